import { closeSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { CHUNK_BYTES, READ_BYTES } from '../limits.ts'
import { dataEvent, timestamp } from '../server-sent-events.ts'
import { messageOf, ServiceError } from '../service-error.ts'
import { contentKind } from './content-kind.ts'
import { fileStream, openForReading, readSizeless, readStart } from './file-bytes.ts'

/** Which way the content of a file comes. */
export type ReadEncoding = 'base64' | 'none' | 'utf-8' | 'utf8'

/** How much is read to distinguish text and binary before a stream. */
const SNIFF_BYTES = 64 * 1024

/** Raw bytes of one event; in base64 they make one full chunk. */
const EVENT_BYTES = (CHUNK_BYTES / 4) * 3

/** A file by the name the caller gave and the place it is at. */
export interface NamedFile {
  readonly path: string
  readonly resolved: string
}

/** @throws {ServiceError} `FILE_NOT_FOUND`, `FILE_TOO_LARGE` and what the system says. */
export function readWhole(file: NamedFile, encoding: ReadEncoding | undefined): object {
  const { fd, size } = openForReading(file.resolved, { operation: 'read', path: file.path })
  try {
    if (size > READ_BYTES) throw tooLarge(file.path, size)
    const bytes = size === 0 ? readSizeless(fd) : readStart(fd, size)
    const kind = contentKind(file.path, bytes, true)
    const asBase64 = encoding === 'base64' || (encoding === undefined && kind.isBinary)
    if (asBase64 && base64Length(size) > READ_BYTES) throw tooLarge(file.path, size)
    return {
      success: true,
      path: file.path,
      content: bytes.toString(asBase64 ? 'base64' : 'utf8'),
      timestamp: timestamp(),
      exitCode: 0,
      encoding: asBase64 ? 'base64' : 'utf-8',
      isBinary: asBase64,
      mimeType: kind.mimeType,
      size: bytes.length,
    }
  } finally {
    closeSync(fd)
  }
}

/** The file as raw bytes in a stream, of any size. */
export function readAsStream(file: NamedFile): object {
  const { fd, size } = openForReading(file.resolved, { operation: 'read', path: file.path })
  const { mimeType } = contentKind(file.path, readStart(fd, Math.min(size, SNIFF_BYTES)), false)
  return {
    success: true,
    path: file.path,
    content: fileStream(fd),
    size,
    mimeType,
    timestamp: timestamp(),
  }
}

/** The file as events: `metadata`, `chunk`s, `complete` or `error`. */
export function readAsEvents(file: NamedFile): ReadableStream<Uint8Array> {
  const { fd, size } = openForReading(file.resolved, { operation: 'read', path: file.path })
  const start = readStart(fd, Math.min(size, SNIFF_BYTES))
  const { isBinary, mimeType } = contentKind(file.path, start, size <= SNIFF_BYTES)
  const encoding = isBinary ? 'base64' : 'utf-8'
  const decoder = new StringDecoder(isBinary ? 'base64' : 'utf8')
  const chunk = Buffer.allocUnsafe(EVENT_BYTES)
  let bytesRead = 0
  return new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(dataEvent({ type: 'metadata', mimeType, size, isBinary, encoding })),
    pull: (controller) => {
      try {
        const count = readSync(fd, chunk, 0, EVENT_BYTES, null)
        bytesRead += count
        if (count > 0) {
          const data = decoder.write(chunk.subarray(0, count))
          return controller.enqueue(dataEvent({ type: 'chunk', data }))
        }
        const data = decoder.end()
        if (data !== '') controller.enqueue(dataEvent({ type: 'chunk', data }))
        controller.enqueue(dataEvent({ type: 'complete', bytesRead }))
      } catch (error) {
        controller.enqueue(dataEvent({ type: 'error', error: messageOf(error) }))
      }
      closeSync(fd)
      controller.close()
    },
    cancel: () => closeSync(fd),
  })
}

function base64Length(size: number): number {
  return Math.ceil(size / 3) * 4
}

function tooLarge(path: string, size: number): ServiceError {
  const text = `${path} is too large to be read at once: ${size} bytes`
  return new ServiceError('FILE_TOO_LARGE', text, { path, size, maxSize: READ_BYTES })
}
