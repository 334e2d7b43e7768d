import { noopLogger, systemClock } from '@helix-agents/core'
import type { EngineShell, RunResult } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { createNodeWorkHost, measureLeastHold } from '@helix-agents/workspace-conformance/bounds'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { endless, escapes, evilPatterns, greedy } from './hostile-scripts.ts'

const MEGABYTE = 1024 * 1024
/**
 * Longer than any command may have the thread of the host for itself, in ms of its time:
 * twice the goal, as a turn measures while other programs share the core.
 */
const HOLD_MS = 100
/** Of the process: the heap of the thread, the files, what is on the way, and garbage. */
const PEAK_BYTES = 700 * MEGABYTE
const SECRET = 'sk-planted-in-the-host'

const sampler = new TestSampler()
const host = createNodeWorkHost(process)
let fs: InMemoryFileSystem
let shell: EngineShell

beforeAll(() => void (process.env.HELIX_TEST_API_KEY = SECRET))
afterAll(() => void delete process.env.HELIX_TEST_API_KEY)

// One thread runs all that leaves it alive: what a script broke in it, the next ones meet too.
beforeAll(async () => {
  fs = new InMemoryFileSystem({ versionPrefix: 'v' })
  fs.limit({ maxTotalBytes: 32 * MEGABYTE, maxFileBytes: 10 * MEGABYTE })
  const engine = justBashShell({ maxTotalOutputBytes: 8 * MEGABYTE })
  shell = engine.open({ files: fs, clock: systemClock, logger: noopLogger })
  await shell.run('echo started')
})
afterEach(async () => {
  for (const { path } of await fs.ls('/')) await fs.rm(path, { recursive: true })
})
afterAll(() => shell.close())

async function runHostile(script: string, timeoutMs: number): Promise<RunResult> {
  const run = (): Promise<RunResult> => shell.run(script, { timeoutMs, maxOutputBytes: MEGABYTE })
  const { cost, outcome } = await measureLeastHold(host, HOLD_MS, run)
  expect(cost.holdMs).toBeLessThan(HOLD_MS)
  expect(cost.peakBytes).toBeLessThan(PEAK_BYTES)
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** The thread is new or as it was: nothing of the script is left in it. */
async function assertUnharmed(): Promise<void> {
  const { stdout, exitCode } = await shell.run('echo fine; jq -n "{} | .polluted"')
  expect([new TextDecoder().decode(stdout), exitCode]).toEqual(['fine\nnull\n', 0])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
}

const textOf = ({ stdout, stderr }: RunResult): string =>
  new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)

test.each(sampler.pick('escapes', escapes, 24))(
  'nothing of the host is reached: %s',
  { timeout: 120_000 },
  async (script) => {
    const result = await runHostile(script, 5000)
    const text = textOf(result)
    expect(text).not.toMatch(/root:x:|node_modules|file:\/\/\/work|at \w+ \(|\.js:\d+/)
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(process.cwd())
    await assertUnharmed()
  },
)

test.each(sampler.pick('endless', endless, 5))(
  'time ends it: %s',
  { timeout: 120_000 },
  async (script) => {
    const { timedOut, exitCode } = await runHostile(script, 200)
    // Some reach a limit of their own before.
    expect(exitCode === 124).toBe(timedOut)
    await assertUnharmed()
  },
)

test.each(sampler.pick('greedy', greedy, 5))(
  'limits hold: %s',
  { timeout: 120_000 },
  async (script) => {
    const { durationMs } = await runHostile(script, 2000)
    expect(durationMs).toBeLessThan(10_000)
    await assertUnharmed()
  },
)

test.each(sampler.pick('patterns', evilPatterns, 6))(
  'patterns are linear or ended: %s',
  { timeout: 120_000 },
  async (script) => {
    const { durationMs } = await runHostile(script, 1000)
    expect(durationMs).toBeLessThan(10_000)
    await assertUnharmed()
  },
)

describe('the lists', () => {
  test('are of at least 300 scripts, each once', () => {
    const all = [...escapes, ...endless, ...greedy, ...evilPatterns]
    expect(all.length).toBeGreaterThanOrEqual(300)
    expect(new Set(all).size).toBe(all.length)
  })
})
