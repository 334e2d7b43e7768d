import { StateStoreError } from '@helix-agents/core'
import type { SqlDatabase, SqlStatements } from './sql-database.ts'
import { longTextTables } from './state/long-text-schema.ts'
import { addKeepWorkspaces, addSpending, stateTables } from './state/state-schema.ts'
import { streamTables } from './stream/stream-schema.ts'

/** One version of the schema: the statements that lead to it from the one before. */
export interface Migration {
  readonly version: number
  readonly statements: readonly string[]
}

/**
 * Every version, oldest first. A released one is never changed: what comes later is a further
 * entry, and a frozen database of each version is part of the tests.
 */
export const migrations: readonly Migration[] = [
  { version: 1, statements: [...stateTables, ...longTextTables, ...streamTables] },
  { version: 2, statements: [addSpending] },
  { version: 3, statements: [addKeepWorkspaces] },
]

/** The version that this code reads and writes. */
export const SCHEMA_VERSION = migrations.length

export interface MigrateOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Checks the version only. */
  readonly readOnly?: boolean
}

const VERSION_TABLE =
  'CREATE TABLE IF NOT EXISTS helix_schema' +
  ' (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT'

/**
 * Brings a database to `SCHEMA_VERSION` in one transaction; two processes may try at once. One
 * that is there already is only read.
 * @throws {StateStoreError} `schema-version` when the database is newer than this code, or older
 * and not to be written; it is left as it was.
 * @throws {SqlError}
 */
export async function migrate(database: SqlDatabase, options: MigrateOptions): Promise<void> {
  const found = await database.read(versionOf)
  if (found === SCHEMA_VERSION) return
  if (found > SCHEMA_VERSION || options.readOnly === true) throw unusableVersion(found)
  await database.write((sql) => applyMissing(sql, options.now))
}

function applyMissing(sql: SqlStatements, now: number): void {
  sql.run(VERSION_TABLE)
  const found = versionOf(sql)
  if (found > SCHEMA_VERSION) throw unusableVersion(found)
  for (const { version, statements } of migrations) {
    if (version <= found) continue
    for (const statement of statements) sql.run(statement)
    sql.run('INSERT INTO helix_schema (version, applied_at) VALUES (?, ?)', version, now)
  }
}

/** 0 for a database without our tables. */
function versionOf(sql: SqlStatements): number {
  const table = sql.get(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'helix_schema'",
  )
  if (table === undefined) return 0
  const row = sql.get('SELECT max(version) AS version FROM helix_schema')
  return typeof row?.['version'] === 'number' ? row['version'] : 0
}

function unusableVersion(found: number): StateStoreError {
  const isNewer = found > SCHEMA_VERSION
  if (!isNewer && found === 0) {
    return new StateStoreError('schema-version', '', 'the database has no tables of Helix', {
      hint: 'Check that it is the right one. Opening it for writing makes them.',
    })
  }
  const detail = isNewer
    ? `the database has schema version ${found}, and this release reads up to ${SCHEMA_VERSION}`
    : `the database has schema version ${found} and must be opened for writing once`
  const hint = isNewer
    ? 'Run the release that made it, or a later one.'
    : 'Start the application with this release: it brings the database up to date.'
  return new StateStoreError('schema-version', '', detail, { hint })
}
