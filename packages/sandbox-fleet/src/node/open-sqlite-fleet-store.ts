import { SqliteDatabase, type SqliteDatabaseOptions } from '@helix-agents/store-sqlite'
import { migrateFleet } from '../sql/fleet-schema.ts'
import { SqlFleetStore } from '../sql/sql-fleet-store.ts'
import type { FleetStore } from '../store/fleet-store.ts'
import { toOpenError } from './open-error.ts'

/** An open ledger file. */
export interface SqliteFleetStore {
  /** The ledger. */
  readonly store: FleetStore
  /** Closes the file. What is called later fails as `unavailable`. */
  readonly close: () => Promise<void>
}

/**
 * Opens a ledger in a SQLite file, which any number of processes may share, also with sessions.
 * The file is made if it is missing; `:memory:` is one that ends with `close`.
 * @throws {FleetError} `schema-version` when a newer release made it, or when it is only read and
 * has no ledger of this release; `corrupt` when it is no database; `unavailable` when it cannot be
 * opened: its `cause` says why.
 * @throws {RangeError} for an option that cannot be used.
 * @throws {TypeError} for a path that is none.
 */
export async function openSqliteFleetStore(
  path: string,
  options: SqliteDatabaseOptions = {},
): Promise<SqliteFleetStore> {
  try {
    return await openStore(path, options)
  } catch (error) {
    throw toOpenError(error)
  }
}

async function openStore(path: string, options: SqliteDatabaseOptions): Promise<SqliteFleetStore> {
  const { readOnly = false } = options
  const database = await SqliteDatabase.open(path, options)
  try {
    await migrateFleet(database, { readOnly })
    return { store: new SqlFleetStore(database), close: () => database.close() }
  } catch (error) {
    await database.close()
    throw error
  }
}
