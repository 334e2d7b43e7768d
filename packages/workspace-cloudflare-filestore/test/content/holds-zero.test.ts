import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsZero } from '../../src/content/holds-zero.ts'

test('finds a zero wherever it is, and nothing else', () => {
  const property = fc.property(
    fc.nat(2000),
    fc.nat(8),
    fc.integer({ min: 1, max: 255 }),
    fc.option(fc.nat(1999)),
    (length, offset, value, at) => {
      const bytes = new Uint8Array(new ArrayBuffer(length + 16), offset, length).fill(value)
      if (at !== null && at < length) bytes[at] = 0
      expect(holdsZero(bytes)).toBe(bytes.includes(0))
    },
  )
  fc.assert(property, { numRuns: 2000 })
})
