import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { timestamp } from '../server-sent-events.ts'
import { errnoOf, ServiceError } from '../service-error.ts'
import { toWriteError } from './file-error.ts'
import type { NamedFile } from './read-file.ts'

export interface WriteOptions {
  readonly encoding?: string
  /** The mode in octal digits. */
  readonly permissions?: string
}

/** Replaces what is there; a pipe without a reader is an error and stops nothing. */
const IN_PLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NONBLOCK

/** Writes a file and the directories above it, links followed, in place. */
export function writeWhole(file: NamedFile, content: string, options: WriteOptions): object {
  const bytes = options.encoding === 'base64' ? fromBase64(content) : content
  try {
    makeParents(file.resolved)
    const fd = openSync(file.resolved, IN_PLACE)
    try {
      writeFileSync(fd, bytes)
    } finally {
      closeSync(fd)
    }
    if (options.permissions !== undefined) {
      chmodSync(file.resolved, Number.parseInt(options.permissions, 8))
    }
  } catch (error) {
    throw toWriteError(error, file.path)
  }
  return { success: true, path: file.path, timestamp: timestamp(), exitCode: 0 }
}

/** Writes a stream as it comes: what arrived before a failure stays. */
export async function writeStream(
  file: NamedFile,
  stream: ReadableStream<Uint8Array>,
): Promise<object> {
  try {
    makeParents(file.resolved)
    const fd = openSync(file.resolved, IN_PLACE)
    const bytesWritten = await copyTo(fd, stream).finally(() => closeSync(fd))
    return { success: true, path: file.path, bytesWritten, timestamp: timestamp() }
  } catch (error) {
    throw toWriteError(error, file.path)
  }
}

function makeParents(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    throw Object.assign(new Error('ENOTDIR: not a directory', { cause: error }), {
      code: 'ENOTDIR',
    })
  }
}

async function copyTo(fd: number, stream: ReadableStream<Uint8Array>): Promise<number> {
  let total = 0
  for await (const chunk of stream) {
    let written = 0
    while (written < chunk.length) written += writeSync(fd, chunk, written)
    total += written
  }
  return total
}

function fromBase64(content: string): Buffer {
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(content)) return Buffer.from(content, 'base64')
  throw new ServiceError('VALIDATION_FAILED', 'the content is not base64', {
    validationErrors: [{ field: 'content', message: 'not base64', code: 'INVALID_BASE64' }],
  })
}
