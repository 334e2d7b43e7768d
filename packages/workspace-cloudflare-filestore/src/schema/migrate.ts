import { WorkspaceFailedError } from '@helix-agents/core'
import { numberOf } from '../storage/columns.ts'
import type { Database } from '../storage/database.ts'
import { version1, version2, version3 } from './tables.ts'

/** The statements that lead to each version, the first from an empty database. */
const MIGRATIONS: readonly (readonly string[])[] = [version1, version2, version3]

/** Version of the tables that this release writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Brings the tables of the file store up to date; touches no others. Each version is one
 * transaction, so an interrupted migration goes on where it was.
 * @throws {WorkspaceFailedError} `provider-failed` when a later release has written them.
 */
export function migrate(database: Database, nowMs: number): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS helix_fs_schema (
      version INTEGER PRIMARY KEY,
      applied_ms INTEGER NOT NULL
    )`,
  )
  const found = versionOf(database)
  if (found > SCHEMA_VERSION) {
    throw new WorkspaceFailedError(
      'provider-failed',
      `the file store has schema version ${found}; this release knows ${SCHEMA_VERSION}`,
      { hint: 'An operator must run the release that wrote it, or a later one.' },
    )
  }
  for (const [index, statements] of MIGRATIONS.entries()) {
    if (index < found) continue
    database.transaction(() => {
      for (const statement of statements) database.run(statement)
      database.run('INSERT INTO helix_fs_schema VALUES (?, ?)', index + 1, nowMs)
    })
  }
}

function versionOf(database: Database): number {
  const row = database.get('SELECT coalesce(max(version), 0) AS version FROM helix_fs_schema')
  return row === undefined ? 0 : numberOf(row, 'version')
}
