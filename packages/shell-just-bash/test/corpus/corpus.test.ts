// The same command lines on just-bash over our files and on the bash of this machine: same output,
// same exit code, same files, unless `differences.ts` says why not.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import type { FileSystem, OpenOptions, Workspace } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { differences } from './differences.ts'
import { fixture } from './fixture.ts'

const lines = readFileSync(join(import.meta.dirname, 'command-lines.txt'), 'utf8')
  .trim()
  .split('\n')
const SAMPLE = 60
/** Of all lines, in per cent. */
const MAX_DIFFERENT = 3

const session = { sessionId: 'corpus', agentType: 'tester' }
const options: OpenOptions = {
  workspace: 'box',
  capabilities: {},
  signal: new AbortController().signal,
  logger: noopLogger,
  clock: systemClock,
}

let simulated: Workspace
let real: Workspace

beforeAll(async () => {
  const memory = new InMemoryWorkspaceProvider({ shell: justBashShell() })
  simulated = (await memory.open({ kind: 'in-memory' }, session, options)).ws
  const local = new LocalBashWorkspaceProvider()
  real = (await local.open({ kind: 'local-bash' }, session, options)).ws
})
afterAll(() => Promise.all([simulated.close(), real.close()]))

async function play({ fs, shell }: Workspace, line: string) {
  if (fs === undefined || shell === undefined) throw new Error('files and commands')
  await fs.rm('/', { recursive: true })
  for (const [path, text] of Object.entries(fixture)) await fs.writeFile(path, text)
  const { stdout, exitCode } = await shell.run(line, {
    timeoutMs: 20_000,
    env: { LC_ALL: 'C.UTF-8' },
  })
  return { stdout: Buffer.from(stdout).toString('latin1'), exitCode, files: await readAll(fs) }
}

async function readAll(fs: FileSystem): Promise<readonly (readonly [string, string])[]> {
  const paths = await fs.glob('**')
  return Promise.all(
    paths.map(async (path) => {
      // The time of the machine is in archives.
      const isArchive = /\.(?:tgz|tar|gz)$/.test(path)
      return [
        path,
        isArchive ? '' : Buffer.from(await fs.readFile(path)).toString('latin1'),
      ] as const
    }),
  )
}

const sampler = new TestSampler()
const known = new Map(differences.map(({ line, because }) => [line, because]))

/** It is the only program of the corpus that a machine may lack. */
const hasJq = spawnSync('jq', ['--version']).status === 0
const same = lines.filter((line) => !known.has(line) && (hasJq || !/\bjq\b/.test(line)))

test.each(sampler.pick('lines', same, SAMPLE))('%s', async (line) => {
  const wanted = await play(real, line)
  expect(await play(simulated, line)).toEqual(wanted)
})

test.each([...known.keys()])('ends, though with another result: %s', async (line) => {
  const { exitCode } = await play(simulated, line)
  expect(exitCode).toBeLessThan(3)
})

test('few lines differ, each for a reason', () => {
  expect(lines.length).toBeGreaterThan(500)
  expect([...known.keys()].filter((line) => !lines.includes(line))).toEqual([])
  expect([...known.values()].filter((because) => because.length < 20)).toEqual([])
  expect((known.size / lines.length) * 100).toBeLessThan(MAX_DIFFERENT)
})
