import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../src/time/backoff.ts'

test('three retries take about ten seconds, whatever the jitter', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
      const total = [0, 1, 2].reduce((sum, retry) => sum + backoffMs(retry, () => random), 0)
      expect(total).toBeGreaterThanOrEqual(7_000)
      expect(total).toBeLessThanOrEqual(12_500)
    }),
  )
})

test('a wait never grows beyond its bound', () => {
  expect(backoffMs(1000, () => 0.5)).toBe(30_000)
})
