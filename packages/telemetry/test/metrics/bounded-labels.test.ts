import { expect, test } from 'vitest'
import { BoundedLabels } from '../../src/metrics/bounded-labels.ts'

test('values that read alike in a row are apart, and the last ones share one series', () => {
  const labels = new BoundedLabels(['tool', 'code'], 2)
  expect(labels.of('ab', 'c')).toEqual({ tool: 'ab', code: 'c' })
  expect(labels.of('a', 'bc')).toEqual({ tool: 'a', code: 'bc' })
  expect(labels.of('new', 'one')).toEqual({ tool: 'other', code: 'other' })
  expect(labels.of('ab', 'c')).toBe(labels.of('ab', 'c'))
})
