import { hash as hashOf } from 'node:crypto'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import type { BlockBatch } from './messages.ts'

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const HASH = /^[0-9a-f]{64}$/

/**
 * Reads blocks and compares each with its hash. It runs in a thread, which imports nothing else.
 * @returns undefined when one of them is missing, damaged or cannot be read.
 */
export function readVerified({
  directory,
  hashes,
  lengths,
}: BlockBatch & { readonly directory: string }): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const [index, hash] of hashes.entries()) {
    const block = bytes.subarray(at, at + (lengths[index] ?? 0))
    if (!HASH.test(hash) || !fill(block, `${directory}/${hash.slice(0, 2)}/${hash.slice(2)}`)) {
      return undefined
    }
    if (hashOf('sha256', block, 'hex') !== hash) return undefined
    at += block.length
  }
  return bytes
}

function fill(block: Uint8Array, path: string): boolean {
  try {
    const fd = openSync(path, READ)
    try {
      return readSync(fd, block, 0, block.length, 0) === block.length
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof Error && 'errno' in error) return false
    throw error
  }
}
