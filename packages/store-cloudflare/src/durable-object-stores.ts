import { type Clock, systemClock } from '@helix-agents/core'
import {
  migrate,
  releaseClaims,
  SqlStateStore,
  SqlStreamManager,
  type SqlStreamManagerOptions,
  toStateStoreError,
} from '@helix-agents/store-sql'
import { DurableObjectDatabase } from './durable-object-database.ts'
import { MAX_ROW_BYTES } from './sql-values.ts'

/** Room for the other columns of the row of a chunk. */
const MAX_CHUNK_BYTES = MAX_ROW_BYTES - 1024

/** Sessions in the SQLite of a Durable Object that `openDurableObjectStores` has prepared. */
export class DOStateStore extends SqlStateStore {
  constructor(storage: DurableObjectStorage) {
    super(DurableObjectDatabase.of(storage))
  }
}

/** Streams in the SQLite of a Durable Object that `openDurableObjectStores` has prepared. */
export class DOStreamManager extends SqlStreamManager {
  /** @throws {RangeError} for a limit that is no whole number, too small, or over that of a row. */
  constructor(storage: DurableObjectStorage, options: SqlStreamManagerOptions = {}) {
    const { maxChunkBytes = 0 } = options
    if (maxChunkBytes > MAX_CHUNK_BYTES) {
      throw new RangeError(`maxChunkBytes must be at most ${MAX_CHUNK_BYTES}, not ${maxChunkBytes}`)
    }
    super(DurableObjectDatabase.of(storage), options)
  }
}

export interface DurableObjectStoresOptions {
  /** How much of each stream is kept. */
  readonly streams?: SqlStreamManagerOptions
  /** What is stored as time. Default: the time of the machine. */
  readonly clock?: Clock
}

export interface DurableObjectStores {
  readonly stateStore: DOStateStore
  readonly streamManager: DOStreamManager
  /**
   * Ends the leases of the runs that an earlier instance of the object left, so that they can be
   * resumed at once: an object has one instance at a time, and that is this one. Call it before
   * any run begins. Resolves to how many there were.
   * @throws {StateStoreError} `corrupt`, `unavailable`
   */
  readonly releaseClaims: () => Promise<number>
}

/**
 * Opens the stores of a Durable Object, and makes or updates their tables. Call it in
 * `ctx.blockConcurrencyWhile`; what is opened twice in one object works on the same data.
 * @throws {StateStoreError} `schema-version` when a newer release has made the tables,
 * `unavailable` when the object has no SQLite.
 * @throws {RangeError} for a limit of `streams` that cannot be used.
 */
export async function openDurableObjectStores(
  storage: DurableObjectStorage,
  options: DurableObjectStoresOptions = {},
): Promise<DurableObjectStores> {
  const { clock = systemClock, streams } = options
  const database = DurableObjectDatabase.of(storage)
  try {
    await migrate(database, { now: clock.now() })
  } catch (error) {
    throw toStateStoreError(error, '')
  }
  return {
    stateStore: new DOStateStore(storage),
    streamManager: new DOStreamManager(storage, streams),
    releaseClaims: () => releaseClaims(database),
  }
}
