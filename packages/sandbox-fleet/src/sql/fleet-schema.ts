import { FleetError } from '@helix-agents/core/runtime'
import type { SqlDatabase, SqlStatements } from '@helix-agents/store-sql'
import { lockFleet } from './fleet-locks.ts'

/**
 * A record is its JSON; the other columns repeat what lists and passes filter by. Counts are
 * maintained: reading the stats takes a handful of rows, however many records there are.
 */
const TABLES: readonly string[] = [
  `CREATE TABLE helix_fleet_sandboxes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    status_since REAL NOT NULL,
    environment TEXT NOT NULL,
    provider TEXT NOT NULL,
    session_id TEXT,
    agent_type TEXT,
    task_id TEXT,
    tenant TEXT,
    pool TEXT,
    created_at REAL NOT NULL,
    attention_at REAL,
    body TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX helix_fleet_by_status ON helix_fleet_sandboxes (status, seq)',
  'CREATE INDEX helix_fleet_by_session ON helix_fleet_sandboxes (session_id, seq)' +
    ' WHERE session_id IS NOT NULL',
  'CREATE INDEX helix_fleet_by_task ON helix_fleet_sandboxes (task_id, seq)' +
    ' WHERE task_id IS NOT NULL',
  'CREATE INDEX helix_fleet_by_tenant ON helix_fleet_sandboxes (tenant, seq)' +
    ' WHERE tenant IS NOT NULL',
  'CREATE INDEX helix_fleet_by_agent ON helix_fleet_sandboxes (agent_type, seq)' +
    ' WHERE agent_type IS NOT NULL',
  'CREATE INDEX helix_fleet_by_pool ON helix_fleet_sandboxes (pool, seq) WHERE pool IS NOT NULL',
  'CREATE INDEX helix_fleet_by_attention' +
    ' ON helix_fleet_sandboxes (environment, attention_at, seq) WHERE attention_at IS NOT NULL',
  "CREATE INDEX helix_fleet_gone ON helix_fleet_sandboxes (status_since) WHERE status = 'terminated'",
  `CREATE TABLE helix_fleet_counts (
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (environment, name)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE helix_fleet_leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,
    until REAL NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE helix_fleet_usage (
    bucket INTEGER PRIMARY KEY,
    executions INTEGER NOT NULL,
    timeouts INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE helix_fleet_state (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
]

/** Every version of the schema, oldest first. A released one is never changed. */
const MIGRATIONS: readonly (readonly string[])[] = [TABLES]

/** The version that this code reads and writes. */
export const FLEET_SCHEMA_VERSION = MIGRATIONS.length

const VERSION_TABLE =
  'CREATE TABLE IF NOT EXISTS helix_fleet_schema (version INTEGER PRIMARY KEY) STRICT'

export interface MigrateFleetOptions {
  /** Checks the version only. */
  readonly readOnly?: boolean
}

/**
 * Makes the tables of the fleet, or brings them up to date, in one transaction.
 * @throws {FleetError} `schema-version` when a newer release made them, or when they would have to
 * be made or changed in a database that is only read; it is left as it was.
 * @throws {SqlError}
 */
export async function migrateFleet(
  database: SqlDatabase,
  { readOnly = false }: MigrateFleetOptions = {},
): Promise<void> {
  // What needs no change can be opened for reading only.
  const present = await database.read(currentVersion)
  if (present === FLEET_SCHEMA_VERSION) return
  if (present > FLEET_SCHEMA_VERSION || readOnly) throw unusableVersion(present)
  await database.write((sql) => {
    lockFleet(sql, 'schema')
    sql.run(VERSION_TABLE)
    const found = versionOf(sql)
    if (found > FLEET_SCHEMA_VERSION) throw unusableVersion(found)
    MIGRATIONS.slice(found).forEach((statements, index) => {
      for (const statement of statements) sql.run(statement)
      sql.run('INSERT INTO helix_fleet_schema (version) VALUES (?)', found + index + 1)
    })
  })
}

function versionOf(sql: SqlStatements): number {
  const row = sql.get('SELECT max(version) AS version FROM helix_fleet_schema')
  return typeof row?.['version'] === 'number' ? row['version'] : 0
}

const FIND_TABLE =
  "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'helix_fleet_schema'"
const FIND_SERVER_TABLE = "SELECT 1 WHERE to_regclass('helix_fleet_schema') IS NOT NULL"

/** 0 for a database without a fleet. */
function currentVersion(sql: SqlStatements): number {
  const table = sql.get(sql.server === undefined ? FIND_TABLE : FIND_SERVER_TABLE)
  return table === undefined ? 0 : versionOf(sql)
}

function unusableVersion(found: number): FleetError {
  if (found > FLEET_SCHEMA_VERSION) {
    return new FleetError('schema-version', `the ledger has schema version ${found}`, {
      hint: 'Run the release that made it, or a later one.',
    })
  }
  if (found > 0) {
    return new FleetError('schema-version', 'the ledger must be opened for writing once', {
      hint: 'Start the fleet with this release: it brings its ledger up to date.',
    })
  }
  return new FleetError('schema-version', 'the database has no ledger of a fleet', {
    hint: 'Check that it is the right one. Opening it for writing makes a ledger.',
  })
}
