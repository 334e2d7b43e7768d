import { migrateFleet } from '../sql/fleet-schema.ts'
import { SqlFleetStore } from '../sql/sql-fleet-store.ts'
import type { FleetStore } from '../store/fleet-store.ts'
import { SqliteDatabase, type SqliteDatabaseOptions } from '@helix-agents/store-sqlite'

export interface SqliteFleetStore {
  readonly store: FleetStore
  /** Closes the file. What is called later fails as `unavailable`. */
  readonly close: () => Promise<void>
}

/**
 * Opens a ledger in a SQLite file, which any number of processes may share, also with sessions.
 * The file is made if it is missing; `:memory:` is one that ends with `close`.
 * @throws {FleetError} `schema-version` when a newer release made it.
 * @throws {SqlError} when the file cannot be opened.
 */
export async function openSqliteFleetStore(
  path: string,
  options: SqliteDatabaseOptions = {},
): Promise<SqliteFleetStore> {
  const database = await SqliteDatabase.open(path, options)
  try {
    await migrateFleet(database)
    return { store: new SqlFleetStore(database), close: () => database.close() }
  } catch (error) {
    await database.close()
    throw error
  }
}
