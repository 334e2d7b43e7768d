import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  countLineFeeds,
  splitLinesKeepingEnds,
  withoutLineEnd,
} from '../../../../src/modules/fs/text/line-endings.ts'

const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r'), maxLength: 12 })

test('lines keep their ends, and are all of the text or its first ones', () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 5 }), (whole, most) => {
      const lines = whole.match(/[^\n]*\n|[^\n]+$/gu) ?? []
      expect(splitLinesKeepingEnds(whole)).toEqual([...lines])
      expect(splitLinesKeepingEnds(whole, most)).toEqual(lines.slice(0, most))
      expect(lines.map((line) => withoutLineEnd(line))).toEqual(
        lines.map((line) => line.replace(/\r?\n$/u, '')),
      )
    }),
  )
})

test('line feeds are counted in the part alone', () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 12 }), fc.nat({ max: 12 }), (whole, from, to) => {
      const part = Array.from(whole).filter((_, i) => i >= from && i < to)
      expect(countLineFeeds(whole, from, to)).toBe(part.filter((each) => each === '\n').length)
    }),
  )
})
