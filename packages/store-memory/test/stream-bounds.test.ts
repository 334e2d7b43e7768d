import { expect, test } from 'vitest'
import { parseStreamBounds } from '../src/stream-bounds.ts'

test('the bounds that are told are those that count', () => {
  expect(parseStreamBounds({})).toEqual({
    maxBufferedChunks: 10_000,
    maxBufferedBytes: 67_108_864,
    maxChunkBytes: 1_048_576,
    maxEndedBytes: 67_108_864,
  })
  const least = { maxBufferedChunks: 1, maxBufferedBytes: 1, maxChunkBytes: 4096, maxEndedBytes: 0 }
  expect(parseStreamBounds(least)).toEqual(least)
})

test.each([
  [{ maxBufferedChunks: 0 }, 'maxBufferedChunks must be a whole number of at least 1, not 0'],
  [{ maxBufferedBytes: 0 }, 'maxBufferedBytes must be a whole number of at least 1, not 0'],
  [{ maxChunkBytes: 4095 }, 'maxChunkBytes must be a whole number of at least 4096, not 4095'],
  [{ maxEndedBytes: -1 }, 'maxEndedBytes must be a whole number of at least 0, not -1'],
  [{ maxEndedBytes: 0.5 }, 'not 0.5'],
  [{ maxBufferedBytes: Infinity }, 'not Infinity'],
])('a bound that is none is refused: %j', (options, message) => {
  expect(() => parseStreamBounds(options)).toThrow(RangeError)
  expect(() => parseStreamBounds(options)).toThrow(message)
})
