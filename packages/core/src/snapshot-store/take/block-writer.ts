import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import { sha256 } from '../digest.ts'
import { SNAPSHOT_BLOCK_BYTES } from '../manifest.ts'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotBlock,
  type SnapshotStore,
} from '../snapshot-store.ts'
import { inBlocks } from './in-blocks.ts'

/** How a {@link BlockWriter} treats what it gets. */
export interface BlockWriterOptions {
  /** SHA-256 in lower-case hexadecimal. Default: that of the platform, by a thread. */
  readonly hashOf?: (bytes: Uint8Array) => string | Promise<string>
  /** Whether the caller writes to the memory of a block again. Default: false. */
  readonly copies?: boolean
  /** Bytes that it may add to the store; more is `storage-full`. Default: no limit. */
  readonly maxBytes?: number
}

/** A file whose blocks are stored, or about to be. */
export interface WrittenFile {
  readonly size: number
  readonly blocks: readonly string[]
}

/** Hashes blocks and stores those that are not there, in batches; memory is that of one batch. */
export class BlockWriter {
  readonly #store: SnapshotStore
  readonly #scope: string
  readonly #options: BlockWriterOptions
  readonly #seen = new Set<string>()
  #batch: SnapshotBlock[] = []
  #batchBytes = 0
  #stored: Promise<void> = Promise.resolve()
  #storedBlocks = 0
  #storedBytes = 0

  constructor(store: SnapshotStore, scope: string, options: BlockWriterOptions = {}) {
    this.#store = store
    this.#scope = scope
    this.#options = options
  }

  /** Blocks that were not in the store. */
  get storedBlocks(): number {
    return this.#storedBlocks
  }

  /** Their bytes. */
  get storedBytes(): number {
    return this.#storedBytes
  }

  /**
   * @param bytes At most a block; nothing else writes to them, unless the writer copies.
   * @returns their hash.
   * @throws {SnapshotStoreError} as the store does; `storage-full` past `maxBytes`.
   */
  async add(bytes: Uint8Array): Promise<string> {
    const { hashOf = sha256, copies = false } = this.#options
    const hashed = hashOf(bytes)
    const hash = typeof hashed === 'string' ? hashed : await hashed
    if (this.#seen.has(hash)) return hash
    this.#seen.add(hash)
    this.#batch.push({ hash, bytes: copies ? bytes.slice() : bytes })
    this.#batchBytes += bytes.length
    const isFull =
      this.#batch.length === SNAPSHOT_BATCH_BLOCKS ||
      this.#batchBytes > SNAPSHOT_BATCH_BYTES - SNAPSHOT_BLOCK_BYTES
    if (isFull) await this.flush()
    return hash
  }

  /** Cuts a content into blocks. @throws {SnapshotStoreError} as `add` does. */
  async write(content: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    const blocks: string[] = []
    let size = 0
    for await (const block of inBlocks(content)) {
      blocks.push(await this.add(block))
      size += block.length
    }
    return { size, blocks }
  }

  /** Resolves when everything that was added is stored. @throws {SnapshotStoreError} */
  async flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    const before = this.#stored
    this.#stored = (async () => {
      await before
      if (batch.length > 0) await this.#put(batch)
    })()
    await this.#stored
  }

  async #put(batch: readonly SnapshotBlock[]): Promise<void> {
    const hashes = batch.map(({ hash }) => hash)
    const there = await this.#store.findBlocks(this.#scope, hashes)
    const missing = batch.filter(({ hash }) => !there.has(hash))
    this.#storedBlocks += missing.length
    this.#storedBytes += missing.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const { maxBytes } = this.#options
    if (maxBytes !== undefined && this.#storedBytes > maxBytes) {
      const problem = `the snapshot would store more than ${maxBytes} bytes`
      throw new SnapshotStoreError('storage-full', problem)
    }
    if (missing.length > 0) await this.#store.putBlocks(this.#scope, missing)
  }
}
