// The same bounds as on the double, with the real scripts, SDK and container behind the provider,
// whose own work is done in this process.
import { lchownSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import {
  codeConfigSchema,
  fileSystemConfigSchema,
  shellConfigSchema,
  snapshotConfigSchema,
  type Workspace,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import {
  CloudflareSandboxWorkspaceProvider,
  createSdkDriver,
} from '@helix-agents/workspace-cloudflare-sandbox'
import {
  type BoundFiles,
  type BoundRow,
  boundBehaviours,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startDriverTestbed } from '../driver/worker/drive.ts'
import { availability, skipNote } from './bench.ts'
import { hostStub } from './host-stub.ts'

/** Behaviours that a sample takes. */
const SAMPLED = 8
const SANDBOX = 'bounds'
const SESSION = { sessionId: 'bounds', agentType: 'kit' }

const sampler = new TestSampler()
const rows: BoundRow[] = []
const ids = boundBehaviours.map(({ id }) => id)

function giveTo(
  { uid, gid }: { readonly uid: number; readonly gid: number },
  first: string,
  last: string,
): void {
  for (let at = last; at.length >= first.length; at = dirname(at)) lchownSync(at, uid, gid)
}

/** Writes into the disk of the container from outside, as the user that owns it. */
function filesIn(root: string): BoundFiles {
  const { uid, gid } = lstatSync(root)
  return {
    writeFile: async (path, data) => {
      const file = join(root, path)
      const [first, last] = [mkdirSync(dirname(file), { recursive: true }), dirname(file)]
      if (first !== undefined) giveTo({ uid, gid }, first, last)
      writeFileSync(file, data)
      lchownSync(file, uid, gid)
      const { size, mtime } = lstatSync(file)
      return { path, type: 'file', size, mtime, version: '' }
    },
  }
}

describe.skipIf(!availability.available)(`on the test bed${skipNote}`, () => {
  let testbed: SandboxTestbed
  beforeAll(async () => void (testbed = await startDriverTestbed()), 60_000)
  afterAll(async () => {
    process.stdout.write(`${renderBoundTable(rows)}\n`)
    await testbed?.stop()
  }, 60_000)

  const provider = new CloudflareSandboxWorkspaceProvider({
    driver: (settings) =>
      createSdkDriver({ source: { connect: (id) => hostStub(testbed, id) } })(settings),
    localBuckets: true,
  })
  const open = async (): Promise<Workspace> => {
    const config = {
      kind: 'cloudflare-sandbox',
      id: SANDBOX,
      shareAcrossSessions: true,
      backupR2Binding: 'BACKUP_BUCKET',
    } as const
    const { ws } = await provider.open(config, SESSION, {
      workspace: 'box',
      capabilities: {
        fs: fileSystemConfigSchema.parse({}),
        shell: shellConfigSchema.parse({}),
        code: codeConfigSchema.parse({}),
        snapshot: snapshotConfigSchema.parse({}),
      },
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    })
    return ws
  }

  defineBounds(
    { it, fails: it.fails },
    {
      capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
      extras: ['background', 'stateful-code', 'stored-output'],
      whole: sampler.isExhaustive,
      only: sampler.pick('bounds on the test bed', ids, SAMPLED),
      create: async () => {
        const workspace = await open()
        const root = join((await testbed.sandbox(SANDBOX))?.root ?? '', 'workspace')
        for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
        return {
          provider: provider.providerId,
          workspace,
          capabilities: provider.capabilities,
          host: createNodeWorkHost(process),
          files: filesIn(root),
          report: (row) => void rows.push(row),
          dispose: () => workspace.detach?.() ?? workspace.close(),
        }
      },
    },
  )
})
