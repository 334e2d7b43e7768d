import { type BigIntStats, closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { type BlockWriter, SNAPSHOT_BLOCK_BYTES } from '@helix-agents/core/provider'
import { READ } from '../file-system/path/open-flags.ts'
import type { Place } from '../file-system/path/walk-path.ts'
import { versionOf } from '../file-system/version.ts'
import { SYNC_BYTES } from './write-bytes.ts'

const readAsync = promisify(read)
/** A file that changes while it is read is read so often. */
const MAX_READS = 3

/** Content of a file in blocks, and the state in which it was read. */
export interface ReadContent {
  readonly stats: BigIntStats
  readonly size: number
  readonly blocks: readonly string[]
  /** It changed each time while it was read: the content is that of no single moment. */
  readonly isTorn: boolean
}

/** What reading needs beside the file. */
export interface ContentReading {
  readonly writer: BlockWriter
  /** One block; what is in it is used before the next read. */
  readonly buffer: Uint8Array
  readonly signal: AbortSignal | undefined
  /** Rejects a file that is too large before it is read. */
  checkSize(bytes: number): void
}

/**
 * Reads a file of a directory that is held open; a link in its place is rejected.
 * @returns undefined for what is no regular file any more.
 * @throws the system's error.
 */
export async function readContent(
  place: Place,
  reading: ContentReading,
): Promise<ReadContent | undefined> {
  const fd = openSync(place.directory.at(place.name), READ)
  try {
    let before = fstatSync(fd, { bigint: true })
    if (!before.isFile()) return undefined
    for (let reads = 1; ; reads += 1) {
      const { blocks, size } = await readBlocks(fd, before, reading)
      const after = fstatSync(fd, { bigint: true })
      const isTorn = versionOf(before) !== versionOf(after) || size !== Number(before.size)
      if (!isTorn || reads === MAX_READS) return { stats: before, size, blocks, isTorn }
      before = after
    }
  } finally {
    closeSync(fd)
  }
}

async function readBlocks(
  fd: number,
  stats: BigIntStats,
  reading: ContentReading,
): Promise<{ readonly blocks: readonly string[]; readonly size: number }> {
  const wanted = Number(stats.size)
  reading.checkSize(wanted)
  const blocks: string[] = []
  let size = 0
  while (size < wanted) {
    reading.signal?.throwIfAborted()
    const length = await fill(fd, reading.buffer, { from: size, to: wanted })
    if (length > 0) blocks.push(await reading.writer.add(reading.buffer.subarray(0, length)))
    size += length
    if (length < SNAPSHOT_BLOCK_BYTES) break
  }
  return { blocks, size }
}

/** Reads up to a whole block; less at the end of the file. */
async function fill(
  fd: number,
  buffer: Uint8Array,
  range: { readonly from: number; readonly to: number },
): Promise<number> {
  const wanted = Math.min(SNAPSHOT_BLOCK_BYTES, range.to - range.from)
  let length = 0
  while (length < wanted) {
    const count =
      wanted <= SYNC_BYTES
        ? readSync(fd, buffer, length, wanted - length, range.from + length)
        : (await readAsync(fd, buffer, length, wanted - length, range.from + length)).bytesRead
    if (count === 0) break
    length += count
  }
  return length
}
