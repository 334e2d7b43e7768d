import { expect, test } from 'vitest'
import { isWithin, parseOptions } from './arguments.ts'

test('options have defaults, and are read', () => {
  expect(parseOptions([])).toEqual({
    targets: [],
    changedSince: undefined,
    count: 20,
    seeds: [1],
    maxTests: 60,
    graceMs: 5000,
    limitMs: undefined,
    jsonFile: undefined,
    isUnconfined: false,
  })
  expect(parseOptions(['--minutes', '5'])).toMatchObject({ limitMs: 300_000 })
  expect(
    parseOptions(['core', '--count', '3', '--seed', '4,5', '--tests', '5', '--seconds', '6']),
  ).toMatchObject({ targets: ['core'], count: 3, seeds: [4, 5], maxTests: 5, graceMs: 6000 })
  expect(parseOptions(['--json', 'a.json'])).toMatchObject({ jsonFile: 'a.json' })
  expect(parseOptions(['--unconfined'])).toMatchObject({ isUnconfined: true })
  expect(parseOptions(['a', 'b', '--count', 'all'])).toMatchObject({
    targets: ['a', 'b'],
    count: Infinity,
  })
  expect(parseOptions(['--changed'])).toMatchObject({ changedSince: 'main' })
  expect(parseOptions(['--changed', '--base', 'v1'])).toMatchObject({ changedSince: 'v1' })
})

test.each([
  ['--count', '0'],
  ['--seed', 'x'],
  ['--seed', '1,'],
  ['--tests', '1.5'],
  ['--seconds', ''],
  ['--minutes', '0'],
])('%s %s is refused', (...args) => {
  expect(() => parseOptions(args)).toThrow(RangeError)
})

test('a target is a package or a path, and there may be several', () => {
  const file = 'packages/core/src/budget/budget.ts'
  for (const target of ['core', 'packages/core/', 'packages/core/src/budget', file]) {
    expect(isWithin([target], file)).toBe(true)
    expect(isWithin(['runtime-js', target], file)).toBe(true)
  }
  expect(isWithin([], file)).toBe(true)
  for (const target of ['cor', 'packages/cor', 'runtime-js'])
    expect(isWithin([target], file)).toBe(false)
})
