import { StateStoreError, systemClock } from '@helix-agents/core'
import {
  applyMigrations,
  serverMigrations,
  SqlStateStore,
  SqlStreamManager,
  type SqlStreamManagerOptions,
} from '@helix-agents/store-sql'
import { parseUrl, toOpenError } from './open-error.ts'
import { PostgresDatabase } from './postgres-database.ts'
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

/** `pg_current_xact_id` is of this one. */
const OLDEST = 130_000

const SERVER =
  "SELECT current_setting('server_version_num')::int AS version," +
  " current_setting('server_encoding') AS encoding"

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
  const database = new PostgresDatabase(parseUrl(url), options)
  try {
    const { clock = systemClock, checkOnly = false, streams, snapshots } = options
    const streamManager = new PostgresStreamManager(database, streams)
    const snapshotStore = new PostgresSnapshotStore(database, clock, snapshots)
    await checkServer(database)
    const migrate = { now: clock.now(), readOnly: checkOnly }
    await applyMigrations(database, serverMigrations, migrate)
    const versionTable = 'helix_snapshot_schema'
    await applyMigrations(database, snapshotMigrations, { ...migrate, versionTable })
    const stateStore = new PostgresStateStore(database)
    return { stateStore, streamManager, snapshotStore, database, close: () => database.close() }
  } catch (error) {
    await database.close()
    throw toOpenError(error, url)
  }
}

/** Fails at once for a server that cannot be reached: the address may be wrong. */
async function checkServer(database: PostgresDatabase): Promise<void> {
  const row = await database.readOnce((sql) => sql.get(SERVER))
  const { version, encoding } = row ?? {}
  if (encoding !== 'UTF8') {
    throw new StateStoreError('unavailable', '', `the encoding of the database is ${encoding}`, {
      hint: "Make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
    })
  }
  if (typeof version === 'number' && version >= OLDEST) return
  throw new StateStoreError('unavailable', '', 'the server is older than PostgreSQL 13')
}
