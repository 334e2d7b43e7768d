import { type Clock, StateStoreError } from '@helix-agents/core'
import {
  releaseLeases,
  SqlStateStore,
  SqlStreamManager,
  type SqlStreamManagerOptions,
  toStateStoreError,
} from '@helix-agents/store-sql'
import { SessionDatabase } from './session-database.ts'
import { MAX_ROW_BYTES } from './sql-values.ts'

/** Room for the other columns of the row of a chunk. */
const MAX_CHUNK_BYTES = MAX_ROW_BYTES - 1024

/** Sessions in the SQLite of a Durable Object. */
export class DOStateStore extends SqlStateStore {
  constructor(storage: DurableObjectStorage) {
    super(SessionDatabase.of(storage))
  }
}

/** Streams in the SQLite of a Durable Object. */
export class DOStreamManager extends SqlStreamManager {
  /** @throws {RangeError} for a limit that is no whole number, too small, or over that of a row. */
  constructor(storage: DurableObjectStorage, options: SqlStreamManagerOptions = {}) {
    const { maxChunkBytes = 0 } = options
    if (maxChunkBytes > MAX_CHUNK_BYTES) {
      throw new RangeError(`maxChunkBytes must be at most ${MAX_CHUNK_BYTES}, not ${maxChunkBytes}`)
    }
    super(SessionDatabase.of(storage), options)
  }
}

/** How {@link openDurableObjectStores} opens the stores. */
export interface DurableObjectStoresOptions {
  /** How much of each stream is kept. */
  readonly streams?: SqlStreamManagerOptions
  /** What is stored as time. Default: the time of the machine. */
  readonly clock?: Clock
}

/** Sessions and streams in one Durable Object. */
export interface DurableObjectStores {
  readonly stateStore: DOStateStore
  readonly streamManager: DOStreamManager
  /**
   * Ends the leases of the runs that an earlier instance of the object left, so that they can be
   * resumed at once: an object has one instance at a time, and that is this one. Call it before
   * any run begins. Resolves to how many there were.
   * @throws {StateStoreError} `corrupt`, `unavailable`
   */
  readonly releaseLeases: () => Promise<number>
  /** Whether nothing was ever written. @throws {StateStoreError} `corrupt`, `unavailable` */
  readonly isEmpty: () => Promise<boolean>
}

/** Whether the class of the object has SQLite: it was made by `new_sqlite_classes`. */
export function hasSqlite({ sql }: DurableObjectStorage): boolean {
  try {
    return sql.databaseSize >= 0
  } catch (error) {
    // The runtime says how to change that.
    if (String(error).includes('new_sqlite_classes')) return false
    throw error
  }
}

/**
 * Opens the stores of a Durable Object, and brings tables that are there up to date; where there
 * are none, the first write makes them. Call it in `ctx.blockConcurrencyWhile`; what is opened
 * twice in one object works on the same data.
 * @throws {StateStoreError} `schema-version` when a newer release has made the tables,
 * `unavailable` when the object has no SQLite.
 * @throws {RangeError} for a limit of `streams` that cannot be used.
 */
export async function openDurableObjectStores(
  storage: DurableObjectStorage,
  { clock, streams }: DurableObjectStoresOptions = {},
): Promise<DurableObjectStores> {
  if (!hasSqlite(storage)) {
    throw new StateStoreError('unavailable', '', 'the class of this object has no SQLite', {
      hint: 'Name it in new_sqlite_classes of the migrations in wrangler.jsonc.',
    })
  }
  const database = SessionDatabase.of(storage, clock)
  await translated(() => database.open())
  const isEmpty = (): Promise<boolean> => translated(async () => !(await database.hasTables()))
  return {
    stateStore: new DOStateStore(storage),
    streamManager: new DOStreamManager(storage, streams),
    releaseLeases: async () => ((await isEmpty()) ? 0 : releaseLeases(database)),
    isEmpty,
  }
}

/**
 * Removes everything that a Durable Object stores, of whatever part, and its alarm. Stores that
 * are open continue as those of a new object.
 */
export async function eraseDurableObject(storage: DurableObjectStorage): Promise<void> {
  // Of objects that were made before 2026-02-24 `deleteAll` leaves the alarm.
  await storage.deleteAlarm()
  const erased = storage.deleteAll()
  SessionDatabase.of(storage).forget()
  await erased
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toStateStoreError(error, '')
  }
}
