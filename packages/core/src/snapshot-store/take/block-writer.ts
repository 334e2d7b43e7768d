import { sha256 } from '../digest.ts'
import {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotBlock,
  type SnapshotStore,
} from '../snapshot-store.ts'

/** Hashes blocks and stores those that are not there, in batches. */
export class BlockWriter {
  readonly #store: SnapshotStore
  readonly #scope: string
  readonly #seen = new Set<string>()
  #batch: SnapshotBlock[] = []
  #batchBytes = 0
  #stored: Promise<void> = Promise.resolve()
  /** Blocks that were not in the store. */
  storedBlocks = 0
  /** Their bytes. */
  storedBytes = 0

  constructor(store: SnapshotStore, scope: string) {
    this.#store = store
    this.#scope = scope
  }

  /** @param bytes Nothing else writes to them. @returns their hash */
  async add(bytes: Uint8Array): Promise<string> {
    const hash = await sha256(bytes)
    if (this.#seen.has(hash)) return hash
    this.#seen.add(hash)
    this.#batch.push({ hash, bytes })
    this.#batchBytes += bytes.length
    const isFull = this.#batchBytes > SNAPSHOT_BATCH_BYTES - 2 ** 20
    if (isFull || this.#batch.length === SNAPSHOT_BATCH_BLOCKS) await this.flush()
    return hash
  }

  /** Resolves when everything that was added is stored. */
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
    if (missing.length > 0) await this.#store.putBlocks(this.#scope, missing)
    this.storedBlocks += missing.length
    this.storedBytes += missing.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }
}
