import { systemClock } from '@helix-agents/core'
import type { SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import {
  migrate,
  SqlStateStore,
  SqlStreamManager,
  type SqlStreamManagerOptions,
} from '@helix-agents/store-sql'
import { toOpenError } from './open-error.ts'
import { SqliteDatabase, type SqliteDatabaseOptions } from './sqlite-database.ts'
import { toDatabasePath } from './sqlite-file.ts'

/** How {@link openSqliteStores} opens a file. */
export interface SqliteStoresOptions extends SqliteDatabaseOptions {
  /** How much of each stream is kept. */
  readonly streams?: SqlStreamManagerOptions
}

/** Sessions and streams in one file. */
export interface SqliteStores {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  /** Closes the file. What is called later fails as `unavailable`; closing again does nothing. */
  readonly close: () => Promise<void>
}

/**
 * Opens the stores of a SQLite file, which any number of processes may share. The file and its
 * directory are made if they are missing, for their user only, and an older one is brought up to
 * date; `:memory:` is a database that ends with `close`.
 * @throws {StateStoreError} `corrupt` for a file that is no database, `schema-version` for one
 * that a newer release has made, `unavailable` when it cannot be opened.
 * @throws {RangeError} for a limit of `streams` that is no whole number, or too small.
 * @throws {TypeError} for a path that is none.
 */
export async function openSqliteStores(
  path: string,
  options: SqliteStoresOptions = {},
): Promise<SqliteStores> {
  try {
    return await openStores(path, options)
  } catch (error) {
    const { readOnly = false } = options
    throw toOpenError(error, { file: toDatabasePath(path), readOnly })
  }
}

async function openStores(path: string, options: SqliteStoresOptions): Promise<SqliteStores> {
  const { clock = systemClock, readOnly = false, streams } = options
  const database = await SqliteDatabase.open(path, options)
  try {
    await migrate(database, { now: clock.now(), readOnly })
    return {
      stateStore: new SqlStateStore(database),
      streamManager: new SqlStreamManager(database, streams),
      close: () => database.close(),
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
