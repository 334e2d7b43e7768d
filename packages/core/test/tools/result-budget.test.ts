import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutEnd, cutMiddle, cutStart, limitText } from '../../src/tools/result-budget.ts'

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
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '🙂', 'é'), maxLength: 300 })
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
