import { write, writeSync } from 'node:fs'
import { promisify } from 'node:util'

const writeAsync = promisify(write)
/** Up to this size the system is asked synchronously: faster than a thread by far. */
export const SYNC_BYTES = 64 * 1024

/**
 * Writes all bytes. Many of them are written by a thread: the system lets the writer wait once the
 * disk falls behind.
 * @returns undefined when they are written already.
 */
export function writeBytes(
  fd: number,
  bytes: Uint8Array,
  position: number,
): Promise<void> | undefined {
  if (bytes.length > SYNC_BYTES) return writeLarge(fd, bytes, position)
  for (let at = 0; at < bytes.length;) {
    at += writeSync(fd, bytes, at, bytes.length - at, position + at)
  }
  return undefined
}

async function writeLarge(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += (await writeAsync(fd, bytes, at, bytes.length - at, position + at)).bytesWritten
  }
}
