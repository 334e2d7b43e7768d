import { InvalidArgumentError } from 'commander'
import { expect, it } from 'vitest'
import { parseChoice, parseCount, parseDuration } from '../../src/input/option-parsers.ts'

it.each([
  ['0s', 0],
  ['250ms', 250],
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['1w', 604_800_000],
])('a duration of %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

it.each(['', '5', '1.5h', '-1h', 'h', '1 h', '1y', '9999999999s', '1h\n'])(
  'no duration: %j',
  (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidArgumentError)
  },
)

it.each(['', '0', '11', '-1', '1.5', '1e1', 'x', '0x1'])('no count from 1 to 10: %j', (text) => {
  expect(() => parseCount(1, 10)(text)).toThrow(InvalidArgumentError)
})

it('a count and a choice', () => {
  expect(['1', '5', '10', '007'].map(parseCount(1, 10))).toEqual([1, 5, 10, 7])
  expect(parseCount(0, 1_000_000_000)('999999999')).toBe(999_999_999)
  expect(() => parseCount(0, 10_000_000_000)('1000000000')).toThrow(InvalidArgumentError)
  expect(['a', 'b'].map(parseChoice(['a', 'b']))).toEqual(['a', 'b'])
  expect(() => parseChoice(['a', 'b'])('c')).toThrow(InvalidArgumentError)
})
