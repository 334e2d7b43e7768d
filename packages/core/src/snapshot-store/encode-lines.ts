import { createTimeSlice } from '../time/slice.ts'

/** Characters that are encoded in one stretch. */
const CHUNK = 64 * 1024

/**
 * UTF-8 of many lines, made in stretches between which other work runs: a manifest has up to tens of
 * megabytes.
 * @param start stands before the lines.
 */
export async function encodeLines<Item>(
  items: Iterable<Item>,
  toLine: (item: Item) => string,
  start = '',
): Promise<Uint8Array<ArrayBuffer>> {
  const slice = createTimeSlice()
  const encoder = new TextEncoder()
  const parts: Uint8Array[] = []
  let text = start
  for (const item of items) {
    text += toLine(item)
    if (text.length >= CHUNK) {
      parts.push(encoder.encode(text))
      text = ''
    }
    if (slice.due) await slice.pause()
  }
  parts.push(encoder.encode(text))
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
    if (slice.due) await slice.pause()
  }
  return bytes
}
