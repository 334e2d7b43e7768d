import { expect, test } from 'vitest'
import { filesWithSamples } from './files-with-samples.ts'
import { createRunReporter, slowestFiles, totalLine } from './run-reporter.ts'

interface FakeTest {
  readonly state: string
}

function moduleOf(file: string, ms: number, tests: readonly FakeTest[]) {
  return {
    moduleId: `${process.cwd()}/${file}`,
    children: { allTests: () => tests.map(({ state }) => ({ result: () => ({ state }) })) },
    diagnostic: () => ({
      collectDuration: ms,
      duration: 0,
      environmentSetupDuration: 0,
      prepareDuration: 0,
      setupDuration: 0,
    }),
  }
}

/** @returns what is printed of a run of these files. */
function reported(modules: readonly ReturnType<typeof moduleOf>[], isExhaustive = false) {
  const lines: string[] = []
  const sampler = { seed: 7, isExhaustive }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what the reporter reads
  const reporter = createRunReporter(sampler, (line) => void lines.push(line)) as unknown as {
    onTestRunStart(specifications: readonly unknown[]): void
    onTestModuleEnd(): void
    onTestRunEnd(modules: readonly unknown[]): void
  }
  reporter.onTestRunStart(modules)
  for (const _ of modules) reporter.onTestModuleEnd()
  reporter.onTestRunEnd(modules)
  return lines
}

test('a run begins with its seed and ends with its slowest files and the total', () => {
  const [passed, skipped] = [{ state: 'passed' }, { state: 'skipped' }]
  expect(reported([moduleOf('a', 20, [passed]), moduleOf('b', 2500, [passed, skipped])])).toEqual([
    'samples repeat with HELIX_SEED=7',
    'slowest files:',
    '    2.5 s  b',
    '2 passed, 0 failed, 1 skipped',
  ])
})

test('a failure repeats the seed, before the total', () => {
  expect(reported([moduleOf('a', 20, [{ state: 'failed' }])]).slice(-2)).toEqual([
    'samples repeat with HELIX_SEED=7',
    '0 passed, 1 failed',
  ])
})

test('an exhaustive run names no seed', () => {
  expect(reported([moduleOf('a', 20, [{ state: 'failed' }])], true)).toEqual([
    'nothing is sampled',
    '0 passed, 1 failed',
  ])
})

test('a long run shows how far it is', () => {
  const files = Array.from({ length: 60 }, (_, at) => moduleOf(`${at}`, 1, []))
  expect(reported(files).filter((line) => line.includes(' of '))).toEqual([
    '25 of 60 files',
    '50 of 60 files',
  ])
})

test('ten files are named, the slowest first', () => {
  const times = Array.from({ length: 12 }, (_, at) => ({ file: `f${at}`, seconds: at + 1 }))
  const [title, first, ...others] = slowestFiles(times)
  expect([title, first, others.length]).toEqual(['slowest files:', '   12.0 s  f11', 9])
  expect(slowestFiles([{ file: 'quick', seconds: 0.9 }])).toEqual([])
})

test('the total counts what ended', () => {
  expect(totalLine([])).toBe('0 passed, 0 failed')
  expect(totalLine(['passed', 'failed', 'passed'])).toBe('2 passed, 1 failed')
})

test('files that take samples are found in every package that has sweeps', () => {
  const found = filesWithSamples(`${import.meta.dirname}/../..`)
  expect(found).toContain('packages/runtime-js/test/crash/crash.test.ts')
  expect(found).toContain('packages/workspace-cloudflare-filestore/test/crash/crash-points.test.ts')
})
