import { fromSqlText, toSqlText } from '@helix-agents/store-sql'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const ODD = ['', '"', '"a"', 'a\0b', '\ud800', '\udc00x', '__proto__', '\ufffd', 'ä']
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...ODD),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
)

test('every string comes back as it was', () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(fromSqlText(toSqlText(given))).toBe(given)
    }),
  )
})

test('what is stored survives UTF-8 and bindings that end at a NUL', () => {
  fc.assert(
    fc.property(text, (given) => {
      const stored = toSqlText(given)
      expect(stored.isWellFormed()).toBe(true)
      expect(stored).not.toContain('\0')
    }),
  )
})

test('usual names stay readable', () => {
  for (const name of ['session-1', 'a/b:c', 'ä😀']) expect(toSqlText(name)).toBe(name)
})
