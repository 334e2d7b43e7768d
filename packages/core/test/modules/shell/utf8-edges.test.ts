import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  firstCharacterStart,
  wholeCharactersLength,
} from '../../../src/modules/shell/output/utf8-edges.ts'

const decode = (part: Uint8Array): string => new TextDecoder().decode(part)

test('property: a text cut anywhere decodes to a part of itself', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', '\u07FF', '\u0800', '日', '\uFFFD', '🙂', '\u{10FFFF}'),
    maxLength: 20,
  })
  fc.assert(
    fc.property(text, fc.nat({ max: 90 }), (whole, at) => {
      const bytes = new TextEncoder().encode(whole)
      const head = bytes.subarray(0, at)
      const tail = bytes.subarray(at)
      const start = decode(head.subarray(0, wholeCharactersLength(head)))
      const end = decode(tail.subarray(firstCharacterStart(tail)))
      expect(whole.startsWith(start)).toBe(true)
      expect(whole.endsWith(end)).toBe(true)
      expect(
        Array.from(whole).length - Array.from(start).length - Array.from(end).length,
      ).toBeLessThanOrEqual(1)
    }),
  )
})

test('bytes that are not text keep their length', () => {
  expect(wholeCharactersLength(new Uint8Array(8).fill(0x80))).toBe(8)
  expect(wholeCharactersLength(new Uint8Array())).toBe(0)
  expect(wholeCharactersLength(Uint8Array.of(0xff, 0x61))).toBe(2)
})

test.each([
  ['\u007F', 1],
  ['\u0080', 2],
  ['\u07FF', 2],
  ['\u0800', 3],
  ['\uFFFF', 3],
  ['\u{10000}', 4],
  ['\u{10FFFF}', 4],
])('%j is whole with its last of %i bytes', (character, length) => {
  const bytes = new TextEncoder().encode(`a${character}`)
  expect(bytes.length).toBe(1 + length)
  for (let end = 1; end < bytes.length; end += 1) {
    expect([end, wholeCharactersLength(bytes.subarray(0, end))]).toEqual([end, 1])
  }
  expect(wholeCharactersLength(bytes)).toBe(bytes.length)
})
