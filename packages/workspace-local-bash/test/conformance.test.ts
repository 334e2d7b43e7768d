import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import {
  type Decoys,
  defineWorkspaceConformance,
  type Runner,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { afterAll, describe, it } from 'vitest'
import { findProgram } from '../src/shell/find-program.ts'
import { TestHost } from './open-workspace.ts'

const SECRET = 'sk-planted-secret-5309'
process.env.HELIX_TEST_API_KEY = SECRET
afterAll(() => void delete process.env.HELIX_TEST_API_KEY)

function directoryOf(ref: WorkspaceRef): string {
  return (ref.ref as { directory: string }).directory
}

/** A directory beside the workspaces; the directory of all of them is the test's own as well. */
function makeDecoys({ tmpdirRoot }: TestHost): Decoys {
  const file = join(tmpdirRoot, 'decoys', 'file')
  mkdirSync(dirname(file))
  writeFileSync(file, 'decoy')
  return {
    ids: ['', '.', 'decoys', join(tmpdirRoot, 'decoys')],
    paths: ['/../decoys', '/../decoys/file'],
    isIntact: async () => readFileSync(file, 'utf8') === 'decoy',
  }
}

const sampler = new TestSampler()
/** What bubblewrap changes is how programs run: of all else the second time takes a sample. */
const PROGRAMS = ['shell', 'code']
const byPart = Map.groupBy(
  workspaceBehaviours.map(({ id }) => id),
  (id) => id.split('/')[0] ?? '',
)
const sampled = new Set(
  [...byPart].flatMap(([part, ids]) =>
    PROGRAMS.includes(part)
      ? ids
      : sampler.pick(`${part} with bubblewrap`, ids, Math.ceil(ids.length / 6)),
  ),
)

const every: Runner = { it, fails: it.fails }
const sample: Runner = {
  it: (name, run, timeoutMs) => void (isTaken(name) && every.it(name, run, timeoutMs)),
  fails: (name, run, timeoutMs) => void (isTaken(name) && every.fails(name, run, timeoutMs)),
}
const isTaken = (name: string): boolean => sampled.has(name)

function conform(isolation: 'none' | 'bubblewrap'): void {
  defineWorkspaceConformance(isolation === 'none' ? every : sample, {
    capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
    extras: ['background', 'processes', 'stateful-code'],
    createProvider: async () => {
      const host = new TestHost()
      return {
        provider: host.provider,
        config: { kind: 'local-bash', isolation },
        dispose: () => host.dispose(),
        restart: async () => new LocalBashWorkspaceProvider(host.options),
        evict: async (ref) => {
          rmSync(join(host.tmpdirRoot, directoryOf(ref)), { recursive: true })
        },
        decoys: makeDecoys(host),
        hostPaths: [host.tmpdirRoot],
        secrets: [SECRET],
      }
    },
  })
}

describe('without isolation', () => {
  conform('none')
})

const hasBubblewrap = findProgram('bwrap') !== undefined
const reason = hasBubblewrap ? '' : ' (skipped: bwrap is not installed)'
describe.skipIf(!hasBubblewrap)(`with bubblewrap${reason}`, () => {
  conform('bubblewrap')
})
