import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeadTail } from '../../../../src/modules/shell/output/head-tail.ts'

test('keeps all up to the limit; of more, a tenth from the start and the rest from the end', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 })
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 60 }), (parts, limit) => {
      const kept = new HeadTail(limit)
      for (const part of parts) {
        const reused = Uint8Array.from(part)
        kept.add(reused)
        reused.fill(0)
      }
      const whole = parts.flatMap((part) => [...part])
      const headBytes = Math.floor(limit / 10)
      const isWhole = whole.length <= limit
      const { bytes, cut } = kept.result()
      expect([kept.totalBytes, kept.isWhole]).toEqual([whole.length, isWhole])
      expect([...bytes]).toEqual(
        isWhole
          ? whole
          : [...whole.slice(0, headBytes), ...whole.slice(whole.length - limit + headBytes)],
      )
      expect(cut).toEqual(isWhole ? undefined : { totalBytes: whole.length, headBytes })
      expect(kept.pieces.flatMap((piece) => [...piece])).toEqual(isWhole ? whole : [])
    }),
    { numRuns: 500 },
  )
})

const sizeOf = (limit: number) => {
  const kept = new HeadTail(limit)
  kept.add(new Uint8Array(20))
  return kept.result().bytes.length
}

test('a limit that is no whole number is the next one below, and none is nothing', () => {
  expect([sizeOf(10.9), sizeOf(-1), sizeOf(0)]).toEqual([10, 0, 0])
})
