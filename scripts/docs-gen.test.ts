import { expect, test } from 'vitest'
import { derivePages } from './docs/pages.ts'

test.each(derivePages())('the generated sections of $file are up to date', (page) => {
  expect(page.current).toBe(page.derived)
})

test('the docs have generated sections', () => {
  expect(derivePages().length).toBeGreaterThan(3)
})
