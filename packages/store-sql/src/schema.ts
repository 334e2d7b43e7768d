import { StateStoreError } from '@helix-agents/core'
import type { SqlDatabase, SqlStatements } from './sql-database.ts'
import { interactionTables } from './state/interaction/interaction-schema.ts'
import { longTextTables } from './state/long-text-schema.ts'
import { historyTables, stateTables } from './state/state-schema.ts'
import { streamSeed, streamTables } from './stream/stream-schema.ts'

/**
 * The statements of a version that adds tables, indexes, or columns that may be NULL or have a default. Releases of
 * the versions before go on beside it, also those that start later.
 */
export interface Additions {
  readonly adds: readonly string[]
}

/** The statements that lead to each version, from the one before; the first from no tables. */
export type Migrations = readonly (readonly string[] | Additions)[]

/** Pages of the sessions of an agent in a status: of many that are one of both, few may be both. */
const agentAndStatus: Additions = {
  adds: [
    'CREATE INDEX helix_sessions_of_agent_and_status ON helix_sessions (agent_type, status, id)',
  ],
}

/** A released version is never changed: what comes later is a further entry. */
const migrations: Migrations = [
  [...stateTables, ...interactionTables, ...longTextTables, ...streamTables, ...streamSeed],
  historyTables,
  agentAndStatus,
]

const onlyOfSqlite: ReadonlySet<string> = new Set([...longTextTables, ...streamSeed])

/** For a server: a row takes texts of any length, and its sequences give no `id` twice. */
export const serverMigrations: Migrations = migrations.map((migration) =>
  'adds' in migration ? { adds: migration.adds.filter(isOfServer) } : migration.filter(isOfServer),
)

function isOfServer(statement: string): boolean {
  return !onlyOfSqlite.has(statement) && !statement.startsWith('CREATE TRIGGER')
}

/** Version of the tables that this release reads and writes. */
export const SCHEMA_VERSION = migrations.length

/** How {@link migrate} treats a database. */
export interface MigrateOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Checks the version only. Default: false. */
  readonly readOnly?: boolean
  /** Table that holds the version: a database may have several lists. Default: `helix_schema`. */
  readonly versionTable?: VersionTable
}

/** Names of tables that hold the version of a list. */
export type VersionTable = 'helix_schema' | 'helix_snapshot_schema'

const versionTableOf = (name: VersionTable): string =>
  `CREATE TABLE IF NOT EXISTS ${name}` +
  ' (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT'

/** Holds the versions that only add, and exists from the first of them on. */
const additionsOf = (name: VersionTable): string => `${name}_additions`

/**
 * Brings a database to {@link SCHEMA_VERSION} in one transaction; several processes may call it at
 * once. A database of that version is only read, and so is one of a later release that only adds.
 * @throws {StateStoreError} `schema-version` for a database of another later release, or an older one
 * that is read only; it is not changed.
 * @throws {SqlError}
 */
export async function migrate(database: SqlDatabase, options: MigrateOptions): Promise<void> {
  return applyMigrations(database, migrations, options)
}

/** As {@link migrate}, to the last version of a list. */
export async function applyMigrations(
  database: SqlDatabase,
  list: Migrations,
  options: MigrateOptions,
): Promise<void> {
  const { versionTable: table = 'helix_schema', readOnly = false } = options
  const found = await database.read((sql) => usableVersion(sql, table, list.length))
  if (found >= list.length) return
  if (readOnly) throw unusableVersion(found, list.length)
  await database.write((sql) => applyMissing(sql, list, { now: options.now, table }))
}

function applyMissing(
  sql: SqlStatements,
  list: Migrations,
  { now, table }: { readonly now: number; readonly table: VersionTable },
): void {
  sql.server?.lock(MIGRATION_LOCK)
  sql.run(versionTableOf(table))
  const found = usableVersion(sql, table, list.length)
  for (const [index, migration] of list.entries()) {
    const version = index + 1
    if (version <= found) continue
    for (const statement of 'adds' in migration ? migration.adds : migration) sql.run(statement)
    if ('adds' in migration) recordAdditions(sql, table, version)
    sql.run(`INSERT INTO ${table} (version, applied_at) VALUES (?, ?)`, version, now)
  }
}

function recordAdditions(sql: SqlStatements, table: VersionTable, version: number): void {
  const name = additionsOf(table)
  sql.run(`CREATE TABLE IF NOT EXISTS ${name} (version INTEGER PRIMARY KEY) STRICT`)
  sql.run(`INSERT INTO ${name} (version) VALUES (?)`, version)
}

const FIND_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
const FIND_SERVER_TABLE = 'SELECT 1 WHERE to_regclass(?) IS NOT NULL'
/** Any number, the same in each process: one of them migrates, the others wait and find it done. */
const MIGRATION_LOCK = 'SELECT pg_advisory_xact_lock(4720384726102473)'

/** The version of a database, unless it is one that a release of version `known` cannot use. */
function usableVersion(sql: SqlStatements, table: VersionTable, known: number): number {
  const found = versionOf(sql, table)
  if (found <= known || countAdditions(sql, table, known) === found - known) return found
  throw unusableVersion(found, known)
}

/** 0 for a database without our tables. */
function versionOf(sql: SqlStatements, table: VersionTable): number {
  if (!hasTable(sql, table)) return 0
  const row = sql.get(`SELECT max(version) AS version FROM ${table}`)
  return typeof row?.['version'] === 'number' ? row['version'] : 0
}

/** How many versions after `known` only add. */
function countAdditions(sql: SqlStatements, table: VersionTable, known: number): unknown {
  const name = additionsOf(table)
  if (!hasTable(sql, name)) return 0
  return sql.get(`SELECT count(*) AS count FROM ${name} WHERE version > ?`, known)?.['count']
}

function hasTable(sql: SqlStatements, name: string): boolean {
  const find = sql.server === undefined ? FIND_TABLE : FIND_SERVER_TABLE
  return sql.get(find, name) !== undefined
}

function unusableVersion(found: number, known: number): StateStoreError {
  if (found === 0) {
    return new StateStoreError('schema-version', '', 'the database has no tables of Helix', {
      hint: 'Check that it is the right one. Opening it for writing creates them.',
    })
  }
  if (found < known) {
    const detail = `the database has schema version ${found} and must be opened for writing once`
    const hint = 'Start the application with this release: it brings the database up to date.'
    return new StateStoreError('schema-version', '', detail, { hint })
  }
  const detail = `the database has schema version ${found}, and this release reads up to ${known}`
  const hint = 'Run the release that created it, or a later one.'
  return new StateStoreError('schema-version', '', detail, { hint })
}
