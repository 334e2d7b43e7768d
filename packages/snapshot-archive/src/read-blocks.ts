import { SnapshotStoreError } from '@helix-agents/core'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotFile,
  type SnapshotManifest,
  type SnapshotStore,
} from '@helix-agents/core/provider'

/** Where the blocks of a snapshot are. */
export interface SnapshotSource {
  readonly store: SnapshotStore
  readonly scope: string
}

/** A part of a file; the parts of a file come in order, and files in the order asked for. */
export interface FilePart {
  readonly file: SnapshotFile
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

interface Wanted {
  readonly file: SnapshotFile
  readonly hash: string
  readonly isLast: boolean
}

/** Most paths that an error names. */
const NAMED_PATHS = 5

/**
 * Checks that every block of a snapshot is stored.
 * @throws {SnapshotStoreError} `missing-blocks`, naming the first files.
 */
export async function assertBlocks(
  { store, scope }: SnapshotSource,
  { entries }: SnapshotManifest,
): Promise<void> {
  const missing = new Set<string>()
  const hashes = new Set(entries.flatMap((entry) => (entry.type === 'file' ? entry.blocks : [])))
  for (const batch of batchesOf([...hashes], SNAPSHOT_BATCH_BLOCKS)) {
    const found = await store.findBlocks(scope, batch)
    for (const hash of batch) if (!found.has(hash)) missing.add(hash)
  }
  if (missing.size === 0) return
  const paths = entries
    .filter((entry) => entry.type === 'file' && entry.blocks.some((hash) => missing.has(hash)))
    .map(({ path }) => path)
  const named = paths.slice(0, NAMED_PATHS).map((path) => JSON.stringify(path))
  const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : ''
  throw new SnapshotStoreError(
    'missing-blocks',
    `blocks of these files are not stored: ${named.join(', ')}${more}`,
  )
}

/**
 * The content of files that are not empty, several blocks in one call, at most 8 MiB in memory.
 * @throws {SnapshotStoreError} `missing-blocks`, `corrupt`, `unavailable`
 */
export async function* readBlocks(
  { store, scope }: SnapshotSource,
  files: Iterable<SnapshotFile>,
): AsyncGenerator<FilePart> {
  for (const batch of batchesOf(wantedBlocks(files), SNAPSHOT_BATCH_BLOCKS, bytesOf)) {
    const blocks = await store.getBlocks(scope, [...new Set(batch.map(({ hash }) => hash))])
    for (const { file, hash, isLast } of batch) {
      const bytes = blocks.get(hash)
      if (bytes === undefined) {
        throw new SnapshotStoreError(
          'missing-blocks',
          `a block of ${JSON.stringify(file.path)} is not stored`,
        )
      }
      yield { file, bytes, isLast }
    }
  }
}

function* wantedBlocks(files: Iterable<SnapshotFile>): Generator<Wanted> {
  for (const file of files) {
    const last = file.blocks.length - 1
    for (const [index, hash] of file.blocks.entries()) yield { file, hash, isLast: index === last }
  }
}

function bytesOf({ file }: Wanted): number {
  return Math.min(file.size, SNAPSHOT_BLOCK_BYTES)
}

function* batchesOf<T>(
  items: Iterable<T>,
  max: number,
  sizeOf: (item: T) => number = () => 0,
): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (batch.length === max || bytes + size > SNAPSHOT_BATCH_BYTES) {
      if (batch.length > 0) yield batch
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
