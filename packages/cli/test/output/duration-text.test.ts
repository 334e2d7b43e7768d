import { expect, it } from 'vitest'
import { toAgeText, toDurationText, toTimeText } from '../../src/output/duration-text.ts'

it.each([
  [0, '0ms'],
  [999.4, '999ms'],
  [999.6, '1s'],
  [1000, '1s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [61_000, '1m'],
  [3_599_999, '59m'],
  [3_600_000, '1h'],
  [86_399_999, '23h'],
  [86_400_000, '1d'],
  [200_000_000, '2d'],
  [-5, '0ms'],
])('%d is %s', (ms, text) => {
  expect(toDurationText(ms)).toBe(text)
})

it('an age is told from now', () => {
  expect([toAgeText(undefined, 0), toAgeText(0, 90_000)]).toEqual(['never', '1m ago'])
})

it('a time is told in full, and one that is none does not throw', () => {
  const times = [0, Number.NaN, Infinity, 8.7e15].map(toTimeText)
  expect(times).toEqual(['1970-01-01T00:00:00Z', '?', '?', '?'])
})
