const LOWEST_BITS = 0x01010101
/** Signed, like the result of every bitwise operation. */
const HIGHEST_BITS = 0x80808080 | 0
/** Below, the search of the engine is as fast. */
const MIN_BYTES = 512

/** Whether a byte is 0: `includes`, for much data twice as fast, since it checks four at once. */
export function holdsZero(bytes: Uint8Array): boolean {
  if (bytes.length < MIN_BYTES) return bytes.includes(0)
  const start = -bytes.byteOffset & 3
  const count = (bytes.length - start) >> 2
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, count)
  const end = start + count * 4
  return (
    bytes.subarray(0, start).includes(0) || bytes.subarray(end).includes(0) || wordHoldsZero(words)
  )
}

/** The sums are of two words each, so that the loop is not the slower part of it. */
function wordHoldsZero(words: Int32Array): boolean {
  const even = words.length & ~1
  for (let i = 0; i < even; i += 2) {
    if (((zeroBits(words[i] ?? -1) | zeroBits(words[i + 1] ?? -1)) & HIGHEST_BITS) !== 0)
      return true
  }
  return (zeroBits(words[even] ?? -1) & HIGHEST_BITS) !== 0
}

/** The highest bit of some byte is set exactly when a byte is 0. */
function zeroBits(word: number): number {
  return (word - LOWEST_BITS) & ~word
}
