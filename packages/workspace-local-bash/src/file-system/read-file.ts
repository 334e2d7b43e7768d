import { type BigIntStats, closeSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { FileSystemError } from '@helix-agents/core'
import type { ReadStreamOptions } from '@helix-agents/core/provider'
import { type FileContext, isSmall } from './file-context.ts'
import { openFile, type OpenFile } from './open-file.ts'

const readAsync = promisify(read)
const PIECE_BYTES = 64 * 1024
/** Larger files are read in ranges or as streams. */
const MAX_WHOLE_READ_BYTES = 256 * 1024 * 1024
/** Bytes of a large file that are read in one go. */
const READ_BYTES = 8 * 1024 * 1024

/** The whole content; small files without leaving the thread. */
export async function readWhole(context: FileContext, path: string): Promise<Uint8Array> {
  const { fd, stats } = openFile(context, path)
  try {
    const size = Number(stats.size)
    checkWholeRead(path, size)
    return isSmall(size) ? readNow(fd, size) : await readLater(fd, size)
  } finally {
    closeSync(fd)
  }
}

/** Before anything is allocated or read. */
function checkWholeRead(path: string, size: number): void {
  if (size <= MAX_WHOLE_READ_BYTES) return
  throw new FileSystemError('too-large', path, {
    detail: `${size} bytes; at most ${MAX_WHOLE_READ_BYTES} are read at once`,
    hint: 'Read it in ranges, or as a stream.',
  })
}

/** The whole content of a small file as text; undefined for a larger one. */
export function readSmallText(context: FileContext, path: string): string | undefined {
  const { fd, stats } = openFile(context, path)
  try {
    const size = Number(stats.size)
    if (!isSmall(size)) return undefined
    const bytes = Buffer.allocUnsafe(size)
    return bytes.toString('utf8', 0, fill(fd, bytes, size))
  } finally {
    closeSync(fd)
  }
}

/** Memory of its own that is not zeroed first: every byte returned is one that was read. */
function allocate(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
}

function readNow(fd: number, size: number): Uint8Array {
  const bytes = allocate(size)
  const length = fill(fd, bytes, size)
  return length === size ? bytes : bytes.slice(0, length)
}

/** Reads up to the size that the file had; it may have shrunk. */
function fill(fd: number, bytes: Uint8Array, size: number): number {
  let length = 0
  while (length < size) {
    const count = readSync(fd, bytes, length, size - length, length)
    if (count === 0) break
    length += count
  }
  return length
}

async function readLater(fd: number, size: number): Promise<Uint8Array> {
  const bytes = allocate(size)
  let length = 0
  while (length < size) {
    const wanted = Math.min(READ_BYTES, size - length)
    const { bytesRead } = await readAsync(fd, bytes, length, wanted, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return length === size ? bytes : bytes.slice(0, length)
}

/** Reads a file piece by piece; the file stays open until the stream ends or is cancelled. */
export class FileReader {
  readonly #open: Set<FileReader>
  #fd: number | undefined
  readonly #end: number
  #position: number
  #isReading = false
  #isClosing = false

  /** @param open Readers that the owner closes at its end. */
  constructor(file: OpenFile, options: ReadStreamOptions, open: Set<FileReader>) {
    this.#fd = file.fd
    this.#open = open
    this.#position = Math.max(0, options.offset ?? 0)
    this.#end = endOf(file.stats, this.#position, options.length)
    open.add(this)
  }

  stream(signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    const onAbort = (): void => this.close()
    signal?.addEventListener('abort', onAbort)
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          signal?.throwIfAborted()
          const piece = await this.#next()
          signal?.throwIfAborted()
          if (piece !== undefined) return controller.enqueue(piece)
          signal?.removeEventListener('abort', onAbort)
          controller.close()
        },
        cancel: () => {
          signal?.removeEventListener('abort', onAbort)
          this.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** While a piece is being read, the file is closed right after it. */
  close(): void {
    this.#open.delete(this)
    if (this.#isReading) {
      this.#isClosing = true
      return
    }
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) closeSync(fd)
  }

  async #next(): Promise<Uint8Array | undefined> {
    const wanted = Math.min(PIECE_BYTES, this.#end - this.#position)
    if (this.#fd === undefined || this.#isClosing || wanted <= 0) return this.#finish()
    const piece = new Uint8Array(wanted)
    const count = await this.#readInto(this.#fd, piece)
    if (count === 0) return this.#finish()
    this.#position += count
    return count === wanted ? piece : piece.slice(0, count)
  }

  /** Away from the thread: whoever reads a huge file leaves others their turn. */
  async #readInto(fd: number, piece: Uint8Array): Promise<number> {
    this.#isReading = true
    try {
      return (await readAsync(fd, piece, 0, piece.length, this.#position)).bytesRead
    } finally {
      this.#isReading = false
      if (this.#isClosing) this.close()
    }
  }

  #finish(): undefined {
    this.close()
  }
}

function endOf(stats: BigIntStats, start: number, length: number | undefined): number {
  const size = Number(stats.size)
  return length === undefined ? size : Math.min(size, start + Math.max(0, length))
}

/** @throws {FileSystemError} `not-found`, `is-directory`. */
export function openReader(
  context: FileContext,
  path: string,
  options: { readonly range: ReadStreamOptions; readonly open: Set<FileReader> },
): ReadableStream<Uint8Array> {
  options.range.signal?.throwIfAborted()
  const reader = new FileReader(openFile(context, path), options.range, options.open)
  return reader.stream(options.range.signal)
}
