import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutEnd, cutMiddle, cutStart, limitText } from '../../src/tools/result-budget.ts'

const line = (length: number) => 'x'.repeat(length)
const endOf = (before: number, budget: number) => cutEnd(`${line(before)}\n${line(9000)}`, budget)
const startOf = (after: number, budget: number) => cutStart(`${line(9000)}\n${line(after)}`, budget)

test('a text within the budget stays whole', () => {
  expect(cutMiddle('abc', 3)).toEqual({ head: 'abc', tail: '', omittedCharacters: 0 })
  expect(limitText('abc', 3)).toBe('abc')
})

test('a longer one keeps a tenth of its start and the rest of its end', () => {
  const { head, tail, omittedCharacters } = cutMiddle('a'.repeat(500) + 'b'.repeat(500), 100)
  expect([head, tail, omittedCharacters]).toEqual(['a'.repeat(10), 'b'.repeat(90), 900])
})

test('a cut moves to a line end that is near', () => {
  expect(cutEnd(`${'a'.repeat(90)}\n${'b'.repeat(50)}`, 100)).toBe(`${'a'.repeat(90)}\n`)
  expect(cutStart(`${'a'.repeat(50)}\n${'b'.repeat(90)}`, 100)).toBe('b'.repeat(90))
  expect(cutEnd(`a\n${'b'.repeat(500)}`, 100)).toHaveLength(100)
})

test('property: pieces are parts of the text, within the budget, and split no character', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\n', '🙂', '\u{10000}', '\u{10FFFF}', '\uFFFF'),
    maxLength: 300,
  })
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 200 }), (whole, budget) => {
      const { head, tail, omittedCharacters } = cutMiddle(whole, budget)
      expect(whole.startsWith(head)).toBe(true)
      expect(whole.endsWith(tail)).toBe(true)
      expect(head.length + tail.length).toBeLessThanOrEqual(Math.max(budget, 1))
      expect(head.length + tail.length + omittedCharacters).toBe(whole.length)
      expect(/\p{Cs}/u.test(head + tail)).toBe(false)
    }),
  )
})

test('a cut stays away from line ends that are further than a quarter of the budget, or 400 characters', () => {
  expect(endOf(75, 100)).toHaveLength(76)
  expect(endOf(74, 100)).toHaveLength(100)
  expect(endOf(99, 100)).toHaveLength(100)
  expect(endOf(100, 100)).toHaveLength(100)
  expect(endOf(3600, 4000)).toHaveLength(3601)
  expect(endOf(3599, 4000)).toHaveLength(4000)
  expect(startOf(76, 100)).toHaveLength(76)
  expect(startOf(75, 100)).toHaveLength(100)
  expect(startOf(100, 100)).toHaveLength(100)
  expect(startOf(101, 100)).toHaveLength(100)
  expect(startOf(3601, 4000)).toHaveLength(3601)
  expect(startOf(3600, 4000)).toHaveLength(4000)
})

test('what a tool did not cut is cut at 200,000 characters, with a notice', () => {
  expect(limitText('x'.repeat(200_000))).toHaveLength(200_000)
  expect(limitText('x'.repeat(200_001))).toBe(
    `${'x'.repeat(20_000)}\n[… 1 characters left out …]\n${'x'.repeat(180_000)}`,
  )
  expect(cutMiddle('x'.repeat(30_001))).toMatchObject({ omittedCharacters: 1 })
  expect(cutMiddle('x'.repeat(30_000))).toMatchObject({ omittedCharacters: 0 })
})
