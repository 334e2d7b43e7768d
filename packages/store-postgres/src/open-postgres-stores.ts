import { systemClock } from '@helix-agents/core'
import {
  applyMigrations,
  serverMigrations,
  SqlStateStore,
  SqlStreamManager,
  type SqlStreamManagerOptions,
} from '@helix-agents/store-sql'
import { openPostgresDatabase } from './open-postgres-database.ts'
import type { PostgresDatabase } from './postgres-database.ts'
import type { PostgresDatabaseOptions } from './postgres-options.ts'
import {
  type PostgresSnapshotOptions,
  PostgresSnapshotStore,
} from './snapshots/postgres-snapshot-store.ts'
import { snapshotMigrations } from './snapshots/snapshot-schema.ts'

/** Sessions in a {@link PostgresDatabase} that `openPostgresStores` has prepared once. */
export class PostgresStateStore extends SqlStateStore {}

/** Streams in a {@link PostgresDatabase} that `openPostgresStores` has prepared once. */
export class PostgresStreamManager extends SqlStreamManager {}

/** How {@link openPostgresStores} opens a database. */
export interface PostgresStoresOptions extends PostgresDatabaseOptions {
  /** How much of each stream is kept. */
  readonly streams?: SqlStreamManagerOptions
  /** How much is stored of the files of workspaces. */
  readonly snapshots?: PostgresSnapshotOptions
  /** Only checks the tables, and makes none: for a user without the rights. Default: false. */
  readonly checkOnly?: boolean
}

/** Sessions, streams and snapshots in one database. */
export interface PostgresStores {
  readonly stateStore: PostgresStateStore
  readonly streamManager: PostgresStreamManager
  readonly snapshotStore: PostgresSnapshotStore
  /** The database under both. */
  readonly database: PostgresDatabase
  /** Ends the connections. What is called later fails as `unavailable`; closing again does nothing. */
  readonly close: () => Promise<void>
}

/**
 * Opens the stores of a PostgreSQL database, which any number of processes on any number of machines
 * may share. The tables are made if they are missing, and older ones are brought up to date, once,
 * however many processes start.
 * @param url as `postgresql://user:password@host:5432/database?sslmode=require`
 * @throws {StateStoreError} `schema-version` for a database that a newer release or another program
 * has made, `unavailable` when it cannot be used.
 * @throws {RangeError} for an option that cannot be used.
 * @throws {TypeError} for a URL that is none.
 */
export async function openPostgresStores(
  url: string,
  options: PostgresStoresOptions = {},
): Promise<PostgresStores> {
  const { clock = systemClock, checkOnly = false, streams, snapshots } = options
  return openPostgresDatabase(url, options, {
    make: (database) => ({
      stateStore: new PostgresStateStore(database),
      streamManager: new PostgresStreamManager(database, streams),
      snapshotStore: new PostgresSnapshotStore(database, clock, snapshots),
      database,
      close: () => database.close(),
    }),
    migrate: async (database) => {
      const migrate = { now: clock.now(), readOnly: checkOnly }
      await applyMigrations(database, serverMigrations, migrate)
      const versionTable = 'helix_snapshot_schema'
      await applyMigrations(database, snapshotMigrations, { ...migrate, versionTable })
    },
  })
}
