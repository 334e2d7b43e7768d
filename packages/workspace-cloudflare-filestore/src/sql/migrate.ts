import { WorkspaceFailedError } from '@helix-agents/core'
import { numberOf } from './columns.ts'
import type { Database } from './database.ts'
import { version1 } from './tables.ts'

/** The statements that lead to each version, from the one before; the first from no tables. */
export type Migrations = readonly (readonly string[])[]

/** A released version is never changed: what comes later is a further entry. */
const MIGRATIONS: Migrations = [version1]

/**
 * Brings the tables of the file store up to date; touches no others. Each version is one
 * transaction, so an interrupted migration resumes where it was.
 * @throws {WorkspaceFailedError} `provider-failed` when a later release has written them.
 */
export function migrate(database: Database, nowMs: number, list: Migrations = MIGRATIONS): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS helix_fs_schema (
      version INTEGER PRIMARY KEY,
      applied_ms INTEGER NOT NULL
    )`,
  )
  const found = versionOf(database)
  if (found > list.length) {
    throw new WorkspaceFailedError(
      'provider-failed',
      `the file store has schema version ${found}; this release knows ${list.length}`,
      { hint: 'An operator must run the release that wrote it, or a later one.' },
    )
  }
  for (const [index, statements] of list.entries()) {
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
