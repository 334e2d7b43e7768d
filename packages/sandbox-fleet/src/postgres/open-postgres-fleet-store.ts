import { StateStoreError } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import {
  openPostgresDatabase,
  type PostgresDatabase,
  type PostgresDatabaseOptions,
} from '@helix-agents/store-postgres'
import { migrateFleet } from '../sql/fleet-schema.ts'
import { SqlFleetStore } from '../sql/sql-fleet-store.ts'
import { toFleetError } from '../sql/to-fleet-error.ts'
import type { FleetStore } from '../store/fleet-store.ts'

/** How {@link openPostgresFleetStore} opens a database. */
export interface PostgresFleetStoreOptions extends Omit<
  PostgresDatabaseOptions,
  'leaseClock' | 'listen' | 'pollMs'
> {
  /** Only checks the tables, and makes none: for a user without the rights. Default: false. */
  readonly checkOnly?: boolean
}

/** An open ledger in a PostgreSQL database. */
export interface PostgresFleetStore {
  /** The ledger. Its time is that of the server. */
  readonly store: FleetStore
  /** Ends the connections. What is called later fails as `unavailable`. */
  readonly close: () => Promise<void>
}

/**
 * Opens a ledger in a PostgreSQL database, which any number of processes on any number of machines
 * may share, also with sessions. Its tables are made if they are missing, once, however many
 * processes start. It works behind a transaction pooler.
 * @param url as `postgresql://user:password@host:5432/database?sslmode=require`
 * @throws {FleetError} `schema-version` when a newer release or another program made the tables, or
 * when they are only checked and none of this release are there; `unavailable` when the database
 * cannot be used: `hint` says what to do.
 * @throws {RangeError} for an option that cannot be used.
 * @throws {TypeError} for a URL that is none.
 */
export async function openPostgresFleetStore(
  url: string,
  options: PostgresFleetStoreOptions = {},
): Promise<PostgresFleetStore> {
  const { checkOnly: readOnly = false, ...connection } = options
  try {
    return await openPostgresDatabase(
      url,
      { ...connection, listen: false },
      {
        make: (database) => ({
          store: new ServerFleetStore(database),
          close: () => database.close(),
        }),
        migrate: (database) => migrateFleet(database, { readOnly }),
      },
    )
  } catch (error) {
    throw toOpenError(error)
  }
}

/** A ledger with the clock of its server: those of the machines may be off. */
class ServerFleetStore extends SqlFleetStore {
  readonly #database: PostgresDatabase

  constructor(database: PostgresDatabase) {
    super(database)
    this.#database = database
  }

  async now(): Promise<number> {
    try {
      return await this.#database.read((sql) => sql.server?.now() ?? Number.NaN)
    } catch (error) {
      throw toFleetError(error)
    }
  }
}

/** What opening a database throws, as an error of the fleet. */
function toOpenError(error: unknown): unknown {
  if (!StateStoreError.isInstance(error)) return toFleetError(error)
  const { cause, code, hint, message } = error
  return new FleetError(code === 'schema-version' ? code : 'unavailable', message, {
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
  })
}
