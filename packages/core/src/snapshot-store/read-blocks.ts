import { SnapshotStoreError } from '../errors/snapshot-store-error.ts'
import { createTimeSlice } from '../time/slice.ts'
import { SNAPSHOT_BLOCK_BYTES, type SnapshotEntry } from './manifest.ts'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotStore,
} from './snapshot-store.ts'

const NAMED_FILES = 5

/** The blocks of a manifest: the length of each, by hash. */
export type BlockLengths = ReadonlyMap<string, number>

/** @throws {SnapshotStoreError} `invalid-manifest` when one block would have two lengths. */
export async function blockLengths(entries: readonly SnapshotEntry[]): Promise<BlockLengths> {
  const slice = createTimeSlice()
  const lengths = new Map<string, number>()
  for (const entry of entries) {
    if (entry.type !== 'file') continue
    for (const [index, hash] of entry.blocks.entries()) {
      if (slice.due) await slice.pause()
      const length = Math.min(SNAPSHOT_BLOCK_BYTES, entry.size - index * SNAPSHOT_BLOCK_BYTES)
      if ((lengths.get(hash) ?? length) !== length) {
        throw new SnapshotStoreError('invalid-manifest', `a block of ${entry.path} has two lengths`)
      }
      lengths.set(hash, length)
    }
  }
  return lengths
}

/** Hashes in the batches that a store takes in one call. */
export function* inBatches(lengths: BlockLengths): Generator<readonly string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const [hash, length] of lengths) {
    const isFull = batch.length === SNAPSHOT_BATCH_BLOCKS || bytes + length > SNAPSHOT_BATCH_BYTES
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(hash)
    bytes += length
  }
  if (batch.length > 0) yield batch
}

/** The blocks of a scope that cannot be used. */
export interface BlockProblems {
  readonly missing: ReadonlySet<string>
  readonly corrupt: ReadonlySet<string>
}

/**
 * Reads every block and compares it with its hash and its length.
 * @param onBlock gets each good one.
 */
export async function checkBlocks(
  place: { readonly store: SnapshotStore; readonly scope: string },
  lengths: BlockLengths,
  onBlock: (hash: string, bytes: Uint8Array) => void,
  signal?: AbortSignal,
): Promise<BlockProblems> {
  const missing = new Set<string>()
  const corrupt = new Set<string>()
  const check = async (batch: readonly string[]): Promise<void> => {
    const blocks = await place.store.getBlocks(place.scope, batch)
    for (const hash of batch) {
      const bytes = blocks.get(hash)
      if (bytes === undefined) missing.add(hash)
      else if (bytes.length !== lengths.get(hash)) corrupt.add(hash)
      else onBlock(hash, bytes)
    }
  }
  for (const batch of inBatches(lengths)) {
    signal?.throwIfAborted()
    try {
      await check(batch)
    } catch (error) {
      if (!isCorrupt(error)) throw error
      for (const hash of batch) await recordCorrupt(check, hash, corrupt)
    }
  }
  return { missing, corrupt }
}

async function recordCorrupt(
  check: (batch: readonly string[]) => Promise<void>,
  hash: string,
  corrupt: Set<string>,
): Promise<void> {
  try {
    await check([hash])
  } catch (error) {
    if (!isCorrupt(error)) throw error
    corrupt.add(hash)
  }
}

function isCorrupt(error: unknown): boolean {
  return SnapshotStoreError.isInstance(error) && error.code === 'corrupt'
}

/** Paths of the files that need one of the blocks. */
export function pathsWith(
  entries: readonly SnapshotEntry[],
  hashes: ReadonlySet<string>,
): readonly string[] {
  if (hashes.size === 0) return []
  return entries
    .filter((entry) => entry.type === 'file' && entry.blocks.some((hash) => hashes.has(hash)))
    .map(({ path }) => path)
}

/** The error of a snapshot with blocks that cannot be used; names files. */
export function blocksError(
  entries: readonly SnapshotEntry[],
  { missing, corrupt }: BlockProblems,
): SnapshotStoreError {
  const code = corrupt.size > 0 ? 'corrupt' : 'missing-blocks'
  const paths = pathsWith(entries, corrupt.size > 0 ? corrupt : missing)
  const named = paths.slice(0, NAMED_FILES).join(', ')
  const more = paths.length > NAMED_FILES ? ` and ${paths.length - NAMED_FILES} more` : ''
  const what = corrupt.size > 0 ? 'is damaged' : 'is missing'
  return new SnapshotStoreError(code, `stored content ${what}: ${named}${more}`, {
    hint: 'Restore another snapshot; an operator can verify the store.',
  })
}
