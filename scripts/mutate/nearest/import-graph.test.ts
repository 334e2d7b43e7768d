import { expect, test } from 'vitest'
import { find } from '../../repository.ts'
import { distancesTo, isMutable, readImporters, testsOf } from './import-graph.ts'

test('the mirrored test comes first, then those of the package, near ones before far ones', () => {
  const importers = new Map([
    ['packages/a/src/x/y.ts', ['packages/a/src/index.ts', 'packages/a/test/near.test.ts']],
    [
      'packages/a/src/index.ts',
      [
        'packages/b/test/b.test.ts',
        'packages/a/test/x/y.test.ts',
        'packages/a/test/harness.ts',
        'packages/a/test/x/z.test.ts',
      ],
    ],
    ['packages/a/test/harness.ts', ['packages/a/test/far.test.ts']],
  ])
  expect(testsOf('packages/a/src/x/y.ts', importers)).toEqual([
    'packages/a/test/x/y.test.ts',
    'packages/a/test/near.test.ts',
    'packages/a/test/x/z.test.ts',
    'packages/a/test/far.test.ts',
    'packages/b/test/b.test.ts',
  ])
})

test('the suite of a package, which speaks of little, comes before what speaks of the file', () => {
  const importers = new Map([
    ['packages/a/src/x.ts', ['packages/a/src/index.ts', 'packages/a/test/near.test.ts']],
    ['packages/a/src/index.ts', ['packages/a/test/conformance.test.ts']],
  ])
  expect(testsOf('packages/a/src/x.ts', importers, (_, path) => path.length)).toEqual([
    'packages/a/test/conformance.test.ts',
    'packages/a/test/near.test.ts',
  ])
})

test('files that import each other are visited once', () => {
  const importers = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['a.ts']],
  ])
  expect([...distancesTo('a.ts', importers)]).toEqual([
    ['a.ts', 0],
    ['b.ts', 1],
  ])
})

test('imports of the repository are found: relative ones, and packages by their sources', () => {
  const importers = readImporters(find(['packages/*/src/**/*.ts', 'packages/*/test/**/*.ts']))
  const tests = testsOf('packages/core/src/budget/budget.ts', importers)
  expect(tests[0]).toBe('packages/core/test/budget/budget.test.ts')
  expect(tests).toContain('packages/runtime-js/test/budget.test.ts')
  // Those that run inside workerd too.
  expect(tests.some((path) => path.startsWith('packages/runtime-js/test/workerd/'))).toBe(true)
})

test('only sources of packages are changed, and no generated ones', () => {
  expect(isMutable('packages/core/src/index.ts')).toBe(true)
  expect(isMutable('packages/core/test/a.test.ts')).toBe(false)
  expect(isMutable('packages/sdk/src/index.ts')).toBe(false)
  expect(isMutable('scripts/clean.ts')).toBe(false)
})
