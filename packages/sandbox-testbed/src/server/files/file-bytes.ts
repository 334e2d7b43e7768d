import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { CHUNK_BYTES } from '../limits.ts'
import { toFileError, notFound, type FailurePlace } from './file-error.ts'

/** A file that is open for reading. */
export interface OpenFile {
  readonly fd: number
  readonly size: number
}

/**
 * Opens a file, links followed.
 * @throws {ServiceError} `FILE_NOT_FOUND`, also for a directory.
 */
export function openForReading(path: string, place: FailurePlace): OpenFile {
  let fd: number
  try {
    // A pipe without a writer must not stop the server.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw toFileError(error, place)
  }
  const stats = fstatSync(fd)
  if (!stats.isDirectory()) return { fd, size: stats.size }
  closeSync(fd)
  throw notFound(place)
}

/** The most that is read of a file without a size. */
const SIZELESS_BYTES = 1024 * 1024

/** Reads up to a number of bytes from the start, and leaves the file where it was. */
export function readStart(fd: number, length: number): Buffer {
  return fill(Buffer.allocUnsafe(length), (bytes, filled) =>
    readSync(fd, bytes, filled, length - filled, filled),
  )
}

/** Reads what is not stored, such as a file of the kernel or a pipe: it has no size. */
export function readSizeless(fd: number): Buffer {
  return fill(Buffer.allocUnsafe(SIZELESS_BYTES), (bytes, filled) =>
    readSync(fd, bytes, filled, SIZELESS_BYTES - filled, null),
  )
}

function fill(bytes: Buffer, read: (bytes: Buffer, filled: number) => number): Buffer {
  let filled = 0
  while (filled < bytes.length) {
    const count = read(bytes, filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** The bytes of an open file in small pieces; the file is closed at the end. */
export function fileStream(fd: number): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const chunk = new Uint8Array(CHUNK_BYTES)
        const count = readSync(fd, chunk, 0, CHUNK_BYTES, null)
        if (count === 0) {
          closeSync(fd)
          controller.close()
          return
        }
        controller.enqueue(chunk.subarray(0, count))
      },
      cancel: () => closeSync(fd),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: CHUNK_BYTES }),
  )
}
