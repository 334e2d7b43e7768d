import { expect, test } from 'vitest'
import { parseStreamLimits } from '../../src/stream/stream-limits.ts'

test('the limits that are told are those that count', () => {
  expect(parseStreamLimits({})).toEqual({
    maxBufferedChunks: 10_000,
    maxBufferedBytes: 67_108_864,
    maxChunkBytes: 1_048_576,
  })
  const least = { maxBufferedChunks: 1, maxBufferedBytes: 1, maxChunkBytes: 4096 }
  expect(parseStreamLimits(least)).toEqual(least)
  expect(parseStreamLimits({ maxChunkBytes: 5000 }).maxBufferedChunks).toBe(10_000)
})

test.each([
  [{ maxBufferedChunks: 0 }, 'maxBufferedChunks must be a whole number of at least 1, not 0'],
  [{ maxBufferedBytes: 0 }, 'maxBufferedBytes must be a whole number of at least 1, not 0'],
  [{ maxChunkBytes: 4095 }, 'maxChunkBytes must be a whole number of at least 4096, not 4095'],
  [{ maxBufferedChunks: 1.5 }, 'not 1.5'],
  [{ maxBufferedBytes: Number.NaN }, 'not NaN'],
  [{ maxChunkBytes: Infinity }, 'not Infinity'],
])('a limit that is none is refused: %j', (options, message) => {
  expect(() => parseStreamLimits(options)).toThrow(RangeError)
  expect(() => parseStreamLimits(options)).toThrow(message)
})
