import { flags } from '../tree/node.ts'
import type { NewData } from './new-data.ts'

/** Largest block that is written; far below the 2 MB that a value may have. */
export const BLOCK_BYTES = 65_536

/** The pieces that become blocks. Those of text end between characters. */
export function cutBlocks(data: NewData): Uint8Array[] {
  const { bytes } = data
  if (bytes.length <= BLOCK_BYTES) return bytes.length === 0 ? [] : [bytes]
  const pieces: Uint8Array[] = []
  for (let start = 0; start < bytes.length;) {
    const end = cutAt(data, start, BLOCK_BYTES)
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}

/** Where a piece of at most `length` bytes ends. */
export function cutAt(data: NewData, start: number, length: number): number {
  const { bytes } = data
  const end = Math.min(start + length, bytes.length)
  if ((data.flags & flags.text) === 0 || end === bytes.length) return end
  let cut = end
  // A byte `10xxxxxx` continues a character; at most three of them do.
  while (cut > start && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1
  return cut
}
