import { decodeText, isBinary } from '@helix-agents/core/provider'
import type { Content, FileNode } from '../nodes.ts'

const encoder = new TextEncoder()

/** What a byte array costs beyond its bytes. */
const ARRAY_OVERHEAD = 200
const BEYOND_LATIN_1 = /[\u0100-\uFFFF]/

/**
 * Encoding into a buffer at hand is several times faster than any way to only count.
 * Units measured at once, and room for the 3 bytes that each can become.
 */
const MEASURED_UNITS = 16_384
const scratch = new Uint8Array(MEASURED_UNITS * 3)

/** Bytes that data takes as UTF-8, known before anything is allocated for it. */
export function sizeOf(data: Content): number {
  if (typeof data !== 'string') return data.byteLength
  if (data.length <= MEASURED_UNITS) return encoder.encodeInto(data, scratch).written
  let size = 0
  for (let start = 0; start < data.length;) {
    let end = Math.min(start + MEASURED_UNITS, data.length)
    if (endsInPair(data, end)) end -= 1
    size += encoder.encodeInto(data.slice(start, end), scratch).written
    start = end
  }
  return size
}

function endsInPair(text: string, end: number): boolean {
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last <= 0xdbff
}

/**
 * The form in which data is kept. ASCII text stays the caller's string: no copy at all. Bytes are
 * copied; text that the engine stores with two bytes a character is encoded when that is smaller.
 */
export function toContent(data: Content, size: number): Content {
  // Not `slice`: on a Node Buffer that is a view.
  if (typeof data !== 'string') return new Uint8Array(data)
  if (size === data.length) return data
  const isSmaller = size + ARRAY_OVERHEAD < data.length * 2 && BEYOND_LATIN_1.test(data)
  return isSmaller ? encoder.encode(data) : data.toWellFormed()
}

/** A fresh copy of the bytes. */
export function contentBytes(content: Content): Uint8Array {
  return typeof content === 'string' ? encoder.encode(content) : new Uint8Array(content)
}

export function contentText(content: Content): string {
  return typeof content === 'string' ? content : decodeText(content)
}

/** Both, one after the other; text joined to text is not copied. */
export function joinContent(first: Content, second: Content): Content {
  if (typeof first === 'string' && typeof second === 'string') return first + second
  const [head, tail] = [rawBytes(first), rawBytes(second)]
  const joined = new Uint8Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

/** Whether a file holds a NUL; the answer is kept with the file. */
export function isBinaryFile(file: FileNode): boolean {
  if (file.binary === undefined) {
    const { content } = file
    file.binary = typeof content === 'string' ? content.includes('\0') : isBinary(content)
  }
  return file.binary
}

const CHUNK_BYTES = 64 * 1024

/** The bytes of a range, in pieces. The content at the time of the call is what is read. */
export function streamContent(
  content: Content,
  range: { readonly start: number; readonly end: number },
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  const bytes = rawBytes(content)
  const end = Math.min(range.end, bytes.length)
  let at = Math.min(range.start, end)
  return new ReadableStream(
    {
      pull(controller) {
        if (signal?.aborted) return controller.error(signal.reason)
        const next = Math.min(at + CHUNK_BYTES, end)
        if (next > at) controller.enqueue(bytes.slice(at, next))
        at = next
        if (at >= end) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Without a copy where there are bytes already; not to be handed out. */
function rawBytes(content: Content): Uint8Array {
  return typeof content === 'string' ? encoder.encode(content) : content
}
