import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toPlainJson, toPlainLines, toPlainText } from '../../src/output/plain-text.ts'
import { DANGEROUS } from '../test-host.ts'

const anyText = fc.string({ unit: 'binary' })
const hostile = fc
  .array(
    fc.oneof(
      anyText,
      fc.constantFrom('\x1b[2J', '\x1b]0;title\x07', '\x9b31m', '\u202e', '\u2028', '\ud800', '\0'),
    ),
  )
  .map((parts) => parts.join(''))

describe('toPlainText', () => {
  it.each([
    ['\x1b[31mred', String.raw`\x1b[31mred`],
    ['a\nb\r\n\tc', String.raw`a\nb\r\n\tc`],
    ['\x9b2J', String.raw`\x9b2J`],
    ['\x7f\0', String.raw`\x7f\x00`],
    ['\u202egnp.exe', String.raw`\u{202e}gnp.exe`],
    ['\u{e0041}', String.raw`\u{e0041}`],
    ['\ud800', String.raw`\u{d800}`],
    ['größe 日本 😀', 'größe 日本 😀'],
  ])('shows %j as %s', (text, shown) => {
    expect(toPlainText(text)).toBe(shown)
  })
  it('lets nothing through that a terminal acts upon', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(toPlainText(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        expect(toPlainLines(text)).not.toMatch(DANGEROUS)
      }),
    )
  })
})

describe('toPlainJson', () => {
  it('means the same and is harmless', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), hostile, (value, text) => {
        for (const indent of [0, 2]) {
          const json = toPlainJson({ value, [text]: text }, indent)
          expect(json).not.toMatch(DANGEROUS)
          expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })))
        }
      }),
    )
  })
})
