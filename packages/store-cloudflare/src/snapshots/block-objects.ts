import { type Clock, SnapshotStoreError } from '@helix-agents/core'
import type { SnapshotBlock } from '@helix-agents/core/provider'
import { type SnapshotTables, textOf } from './snapshot-tables.ts'

/** Keys that a bucket deletes in one call. */
const DELETE_BATCH = 1000

/** The part of `R2Bucket` that is used: a bucket binding fits as it is. */
export interface SnapshotBucket {
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>
  /** With `sha256` in hexadecimal, the bucket rejects content that arrives damaged. */
  put(key: string, value: Uint8Array, options?: { sha256?: string }): Promise<unknown>
  /** At most 1,000 keys; one that is not there is no error. */
  delete(keys: string[]): Promise<void>
}

/**
 * Large blocks as objects of a bucket. No key is used twice, so that deleting one never meets another
 * put of the same content.
 */
export class BlockObjects {
  readonly #bucket: SnapshotBucket
  readonly #tables: SnapshotTables
  readonly #clock: Clock

  constructor(bucket: SnapshotBucket, tables: SnapshotTables, clock: Clock) {
    this.#bucket = bucket
    this.#tables = tables
    this.#clock = clock
  }

  /** Puts an object that is garbage until {@link keep}. @returns its key */
  async put({ hash, bytes }: SnapshotBlock): Promise<string> {
    const key = this.#tables.write(() => {
      const made = `${this.#tables.storeId()}/${hash}-${crypto.randomUUID()}`
      const insert = 'INSERT INTO helix_snapshot_garbage VALUES (?, ?)'
      this.#tables.all(insert, made, this.#clock.now())
      return made
    })
    await unavailable(() => this.#bucket.put(key, bytes, { sha256: hash }))
    return key
  }

  /**
   * Ends that an object is garbage; part of the transaction in which a block gets it.
   * @throws {SnapshotStoreError} `unavailable` when putting it took longer than the grace period.
   */
  keep(key: string): void {
    const statement = 'DELETE FROM helix_snapshot_garbage WHERE object_key = ? RETURNING 1'
    if (this.#tables.get(statement, key) !== undefined) return
    throw new SnapshotStoreError('unavailable', 'storing a block took too long')
  }

  /** @throws {SnapshotStoreError} `corrupt` when the bucket has lost it. */
  async read(key: string): Promise<Uint8Array> {
    const object = await unavailable(() => this.#bucket.get(key))
    if (object !== null) return new Uint8Array(await unavailable(() => object.arrayBuffer()))
    throw new SnapshotStoreError('corrupt', 'the object of a block is missing in the bucket')
  }

  /** Deletes garbage; what a failure leaves is tried again by the next call. */
  async collect(untilMs: number): Promise<void> {
    const select = 'SELECT object_key FROM helix_snapshot_garbage WHERE since <= ? LIMIT ?'
    for (;;) {
      const rows = this.#tables.all(select, untilMs, DELETE_BATCH)
      const keys = rows.map((row) => textOf(row['object_key']))
      if (keys.length === 0) return
      await unavailable(() => this.#bucket.delete(keys))
      const remove =
        'DELETE FROM helix_snapshot_garbage WHERE object_key IN (SELECT value FROM json_each(?))'
      this.#tables.all(remove, JSON.stringify(keys))
    }
  }
}

async function unavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new SnapshotStoreError('unavailable', 'the bucket of snapshots failed', { cause })
  }
}
