import { SnapshotStoreError } from '@helix-agents/core'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotBlock,
} from '@helix-agents/core/provider'
import type { SnapshotLine } from './snapshot-line.ts'
import { sha256 } from './store/block-files.ts'

/** Stores blocks in batches: memory stays the same however large a file is. */
export class BlockWriter {
  readonly #line: SnapshotLine
  readonly #batch = new Map<string, SnapshotBlock>()
  #batchBytes = 0
  #bytes = 0

  constructor(line: SnapshotLine) {
    this.#line = line
  }

  /** Bytes given to the store; some of them it may have had before. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * @param bytes at most a block; copied.
   * @returns the hash.
   * @throws {SnapshotStoreError} `storage-full` when one snapshot alone is over the bound.
   */
  async add(bytes: Uint8Array): Promise<string> {
    const hash = sha256(bytes)
    if (this.#batch.has(hash)) return hash
    this.#batch.set(hash, { hash, bytes: bytes.slice() })
    this.#batchBytes += bytes.length
    const isFull =
      this.#batch.size >= SNAPSHOT_BATCH_BLOCKS ||
      this.#batchBytes + SNAPSHOT_BLOCK_BYTES > SNAPSHOT_BATCH_BYTES
    if (isFull) await this.flush()
    return hash
  }

  async flush(): Promise<void> {
    if (this.#batch.size === 0) return
    const { store, scope, bounds } = this.#line
    const hashes = [...this.#batch.keys()]
    const there = await store.findBlocks(scope, hashes)
    const blocks = [...this.#batch.values()].filter(({ hash }) => !there.has(hash))
    this.#bytes += blocks.reduce((sum, block) => sum + block.bytes.length, 0)
    if (this.#bytes > bounds.maxBytes) {
      const problem = `the snapshot would store more than ${bounds.maxBytes} bytes`
      throw new SnapshotStoreError('storage-full', problem)
    }
    await store.putBlocks(scope, blocks)
    this.#batch.clear()
    this.#batchBytes = 0
  }
}
