import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createContentFilter } from '../src/content/content-filter.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '語', '\n', 'Q'), maxLength: 30 })

it('finds in bytes exactly what is in the text', () => {
  fc.assert(
    fc.property(letters, letters, (content, wanted) => {
      const holds = createContentFilter(wanted)
      const expected = content.includes(wanted)
      expect(holds(content)).toBe(expected)
      expect(holds(new TextEncoder().encode(content))).toBe(expected)
    }),
  )
})
