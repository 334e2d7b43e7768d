import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotFile,
  type TimeSlice,
} from '@helix-agents/core/provider'
import type { BlockBatch } from './messages.ts'

/** Files that are written together, each of one block or none, and these blocks. */
export interface FileBatch extends BlockBatch {
  readonly files: readonly SnapshotFile[]
}

const MAX_FILES = 2 * SNAPSHOT_BATCH_BLOCKS
const MAX_BYTES = SNAPSHOT_BATCH_BYTES / 2

class Batch implements FileBatch {
  readonly files: SnapshotFile[] = []
  readonly hashes: string[] = []
  readonly lengths: number[] = []
  readonly #known = new Set<string>()
  #bytes = 0

  get isFull(): boolean {
    const { hashes, files } = this
    return (
      hashes.length >= SNAPSHOT_BATCH_BLOCKS || files.length >= MAX_FILES || this.#bytes > MAX_BYTES
    )
  }

  add(file: SnapshotFile): void {
    this.files.push(file)
    const [hash] = file.blocks
    if (hash === undefined || this.#known.has(hash)) return
    this.#known.add(hash)
    this.hashes.push(hash)
    this.lengths.push(file.size)
    this.#bytes += file.size
  }

  /** What only adding needs. */
  seal(): FileBatch {
    this.#known.clear()
    return this
  }
}

/** The files of a tree in batches that a store gives in one call. */
export async function inBatches(
  files: readonly SnapshotFile[],
  slice: TimeSlice,
): Promise<readonly FileBatch[]> {
  const batches: FileBatch[] = []
  let batch = new Batch()
  for (const file of files) {
    batch.add(file)
    if (slice.due) await slice.pause()
    if (!batch.isFull) continue
    batches.push(batch.seal())
    batch = new Batch()
  }
  if (batch.files.length > 0) batches.push(batch.seal())
  return batches
}
