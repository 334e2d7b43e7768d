import { expect, test } from 'vitest'
import { CoverageMap } from './coverage-map.ts'
import { mutantsOf } from './mutants.ts'
import { planOf, type Preference } from './plan.ts'
import type { FileReport, OneTestReport } from './tests/protocol.ts'

const mutant = { ...mutantsOf('a.ts', 'f()')[0]!, id: 7 }

function one(id: string, reached: readonly number[], rest: Partial<OneTestReport> = {}) {
  return { id, name: id, state: 'passed', ms: 10, reached, ...rest } as const
}

function planWith(...reports: readonly Partial<FileReport>[]) {
  const coverage = new CoverageMap()
  const files = reports.map((report, index) => {
    const file = `${index}.test.ts`
    coverage.add({ file, passed: true, ms: 100, loaded: [], reached: [], tests: [], ...report })
    return file
  })
  const { failing, longestLoadingMs } = coverage
  return { ...planOf(mutant, files, coverage), failing, longestLoadingMs }
}

test('only the tests that reach a mutant run, the shortest files first', () => {
  const { tests, longestLoadingMs } = planWith(
    { tests: [one('a', [7]), one('b', [8])], ms: 90 },
    { tests: [one('c', [8])] },
    { tests: [one('d', [1, 7], { ms: 5 })], ms: 20 },
  )
  expect(tests.map(({ file, ids }) => [file, ids])).toEqual([
    ['2.test.ts', ['d']],
    ['0.test.ts', ['a']],
  ])
  expect(tests.map(({ ms }) => ms)).toEqual([5, 10])
  // A process that has not loaded it takes the rest.
  expect(tests.map(({ loadingMs }) => loadingMs)).toEqual([15, 70])
  // Another one of these files may be the first of a process: it loads what they share.
  expect(longestLoadingMs).toBe(90)
})

test('a mutant that acts outside of tests meets all tests of the file', () => {
  const { tests } = planWith({ reached: [7], tests: [one('a', []), one('b', [8])] })
  expect(tests[0]?.ids).toEqual(['a', 'b'])
})

test('what fails without a mutant is left out', () => {
  const failed = one('a', [7], { state: 'failed' })
  expect(planWith({ passed: false, tests: [failed, one('b', [7])] }).tests[0]?.ids).toEqual(['b'])
  const broken = planWith({ passed: false, tests: [one('b', [7])] })
  expect(broken.tests).toEqual([])
  expect(broken.failing.map(({ file }) => file)).toEqual(['0.test.ts'])
})

test('tests that have killed neighbours come first, and long ones are left out when it is wanted', () => {
  const coverage = new CoverageMap()
  for (const [file, ms] of [
    ['short.test.ts', 10],
    ['long.test.ts', 100],
  ] as const) {
    const tests = [one('a', [7], { ms })]
    coverage.add({ file, passed: true, ms, loaded: [], reached: [], tests })
  }
  const planned = (preference: Preference): readonly string[] =>
    planOf(mutant, ['short.test.ts', 'long.test.ts'], coverage, preference).tests.map(
      ({ file }) => file,
    )
  expect(planned({})).toEqual(['short.test.ts', 'long.test.ts'])
  const kills = new Map([['long.test.ts', 9]])
  expect(planned({ killsOf: (file) => kills.get(file) ?? 0 })).toEqual([
    'long.test.ts',
    'short.test.ts',
  ])
  expect(planned({ longestMs: 50 })).toEqual(['short.test.ts'])
})
