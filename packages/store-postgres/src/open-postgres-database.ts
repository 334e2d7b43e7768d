import { StateStoreError } from '@helix-agents/core'
import { parseUrl, toOpenError } from './open-error.ts'
import { PostgresDatabase } from './postgres-database.ts'
import type { PostgresDatabaseOptions } from './postgres-options.ts'

/** `pg_current_xact_id` is of this one. */
const OLDEST = 130_000

const SERVER =
  "SELECT current_setting('server_version_num')::int AS version," +
  " current_setting('server_encoding') AS encoding"

/** A store on a {@link PostgresDatabase}. */
export interface PostgresStoreParts<T> {
  /** Makes the store; it does not use the database yet. */
  readonly make: (database: PostgresDatabase) => T
  /** Makes its tables, or checks them. */
  readonly migrate: (database: PostgresDatabase) => Promise<void>
}

/**
 * Opens a PostgreSQL database for a store. When that fails, the connections are closed.
 * @param url as `postgresql://user:password@host:5432/database?sslmode=require`
 * @returns the store
 * @throws {StateStoreError} `unavailable` when the database cannot be used, `schema-version` when
 * another program made tables of the same names.
 * @throws {RangeError} for an option that cannot be used.
 * @throws {TypeError} for a URL that is none.
 */
export async function openPostgresDatabase<T>(
  url: string,
  options: PostgresDatabaseOptions,
  { make, migrate }: PostgresStoreParts<T>,
): Promise<T> {
  const database = new PostgresDatabase(parseUrl(url), options)
  try {
    const store = make(database)
    await checkServer(database)
    await migrate(database)
    return store
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
