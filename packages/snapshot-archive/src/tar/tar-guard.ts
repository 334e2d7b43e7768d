import type { SnapshotLimits } from '@helix-agents/core/provider'
import { SnapshotArchiveError } from '../archive-error.ts'

const BLOCK = 512
const TYPE_AT = 156
const SIZE_AT = 124
const SIZE_LENGTH = 12
/** Most bytes of one extended header or long name. */
const MAX_EXTENSION_BYTES = 1024 * 1024
/** Bytes of headers that an entry may have on average, before the archive counts as a bomb. */
const HEADER_BYTES_AN_ENTRY = 8 * 1024

/** Type flags of entries with a body, of entries without one, and of headers for the next entry. */
const FILES = '0\0'
const BODILESS = '123456'
const EXTENSIONS = 'xgLK'

/**
 * Passes the bytes of a tar archive on, and rejects before the decoder what that one would read as
 * an ordinary file or keep in memory: unknown kinds of entries (sparse files and parts of several
 * volumes), bodies where none belong, large extended headers, more bytes than the limits allow.
 */
export function createTarGuard(limits: SnapshotLimits): TransformStream<Uint8Array, Uint8Array> {
  const mostBytes = limits.maxTotalBytes + limits.maxEntries * HEADER_BYTES_AN_ENTRY
  const header = new Uint8Array(BLOCK)
  let filled = 0
  let skip = 0
  let total = 0
  let isAtEnd = false
  const inspect = (chunk: Uint8Array): void => {
    for (let at = 0; at < chunk.length && !isAtEnd;) {
      if (skip > 0) {
        const passed = Math.min(skip, chunk.length - at)
        skip -= passed
        at += passed
        continue
      }
      const part = chunk.subarray(at, at + BLOCK - filled)
      header.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < BLOCK) break
      filled = 0
      // From the first block of zeros on, the decoder takes nothing but zeros.
      if (header.every((byte) => byte === 0)) isAtEnd = true
      else skip = bodyBytesOf(header, limits)
    }
  }
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.length
      if (total > mostBytes) throw tooLarge(`is longer than ${mostBytes} bytes`)
      inspect(chunk)
      controller.enqueue(chunk)
    },
  })
}

/** Bytes behind a header that are no header. @throws {SnapshotArchiveError} */
function bodyBytesOf(header: Uint8Array, { maxTotalBytes }: SnapshotLimits): number {
  const type = String.fromCharCode(header[TYPE_AT] ?? 0)
  const size = sizeOf(header)
  if (BODILESS.includes(type)) {
    if (size === 0) return 0
    throw invalid(`has an entry of type ${type} with ${size} bytes of content`)
  }
  if (EXTENSIONS.includes(type)) {
    if (size > MAX_EXTENSION_BYTES) throw tooLarge(`has an extended header of ${size} bytes`)
  } else if (!FILES.includes(type)) {
    throw new SnapshotArchiveError(
      'unsupported-entry',
      `the archive has an entry of type ${JSON.stringify(type)}: only files, directories and ` +
        'symbolic links are imported',
    )
  } else if (size > maxTotalBytes) throw tooLarge(`has a file of ${size} bytes`)
  return Math.ceil(size / BLOCK) * BLOCK
}

/** Octal digits, or the binary form of large sizes. */
function sizeOf(header: Uint8Array): number {
  const field = header.subarray(SIZE_AT, SIZE_AT + SIZE_LENGTH)
  const [first = 0, ...rest] = field
  if ((first & 0x80) === 0) {
    const text =
      String.fromCharCode(...field)
        .replaceAll(' ', '')
        .split('\0')[0] ?? ''
    if (!/^[0-7]*$/.test(text)) throw invalid('has a header whose size is no number')
    return text === '' ? 0 : Number.parseInt(text, 8)
  }
  const size = rest.reduce((sum, byte) => sum * 256 + byte, first & 0x7f)
  if (!Number.isSafeInteger(size)) throw tooLarge('has a file of more bytes than can be counted')
  return size
}

function invalid(problem: string): SnapshotArchiveError {
  return new SnapshotArchiveError('invalid-archive', `the archive ${problem}`)
}

function tooLarge(problem: string): SnapshotArchiveError {
  return new SnapshotArchiveError('too-large', `the archive ${problem}`)
}
