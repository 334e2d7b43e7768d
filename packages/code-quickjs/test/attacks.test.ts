import { noopLogger, systemClock } from '@helix-agents/core'
import type { EngineCode, FileSystem, RunCodeResult } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { quickJsCode } from '@helix-agents/code-quickjs'
import { createNodeWorkHost, measureLeastHold } from '@helix-agents/workspace-conformance/bounds'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endless, endlessBuiltIns, escapes, greedy, poisoned } from './hostile-code.ts'

const sampler = new TestSampler()
const engine = quickJsCode()
const host = createNodeWorkHost(process)
let code: EngineCode
let files: FileSystem

beforeAll(async () => {
  const fs = new InMemoryFileSystem({ versionPrefix: 'v' })
  fs.limit({ maxTotalBytes: 64 * 1024 * 1024, maxFileBytes: 10 * 1024 * 1024 })
  files = fs
  code = engine.open({ files, clock: systemClock, logger: noopLogger })
  // The first start compiles; what is measured here is how code is held.
  await code.runCode('javascript', '1')
})

afterAll(() => code.close())

/**
 * Longer than any call may have the thread of the host for itself, in milliseconds of its time:
 * twice the goal, as a turn measures while other programs share the core.
 */
const HOLD_MS = 100
/** Of the process: the memory of the code, twice while it is copied, and garbage. */
const PEAK_BYTES = 400 * 1024 * 1024

async function runHostile(script: string, timeoutMs: number): Promise<RunCodeResult> {
  const run = (): Promise<RunCodeResult> => code.runCode('javascript', script, { timeoutMs })
  const { cost, outcome } = await measureLeastHold(host, HOLD_MS, run)
  expect(cost.holdMs).toBeLessThan(HOLD_MS)
  expect(cost.peakBytes).toBeLessThan(PEAK_BYTES)
  if (outcome.status === 'rejected') throw outcome.reason
  const { outputs } = outcome.value
  const bytes = outputs.map((output) => ('data' in output ? output.data.length : 0))
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(12 * 1024 * 1024)
  return outcome.value
}

describe('code without an end is stopped', () => {
  const scripts = [
    ...sampler.pick('endless', endless, 4),
    ...sampler.pick('endless built-ins', endlessBuiltIns, 1),
  ]
  test.each(scripts)('%s', { timeout: 120_000 }, async (script) => {
    const startedAt = performance.now()
    const { exitCode, error } = await runHostile(script, 200)
    expect([exitCode, error?.name]).toEqual([124, 'TimeoutError'])
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})

describe('code that wants too much ends', () => {
  test.each(sampler.pick('greedy', greedy, 6))('%s', { timeout: 120_000 }, async (script) => {
    const { exitCode } = await runHostile(script, 3000)
    expect([0, 1, 124]).toContain(exitCode)
  })
})

describe('nothing of the host is in reach', () => {
  test.each(escapes)('%s', async (script) => {
    const { outputs, exitCode, error } = await code.runCode('javascript', script, {
      timeoutMs: 3000,
    })
    const shown = JSON.stringify(outputs.map((output) => ('value' in output ? output.value : '')))
    expect(shown).not.toContain('root:')
    const value = outputs.find(({ type }) => type === 'result')
    const found = value?.type === 'result' ? String(value.value) : error?.name
    expect([exitCode, found]).toEqual([
      expect.any(Number),
      expect.stringMatching(/^(undefined)+$|^function$|Error$/),
    ])
  })
})

describe('values and errors that are traps', () => {
  test.each(poisoned)('%s', async (script) => {
    const result = await code.runCode('javascript', script, { timeoutMs: 3000 })
    expect([0, 1]).toContain(result.exitCode)
    expect(JSON.stringify({ ...result.error })).toBeTypeOf('string')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})
