import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqlDatabase, SqlRow, SqlStatements } from '@helix-agents/store-sql'
import { onTestFinished } from 'vitest'

/** A database in memory that ends with the test. */
export function openDatabase(): SqlDatabase {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const prepared = new Map<string, StatementSync>()
  const prepare = (statement: string): StatementSync => {
    const made = prepared.get(statement) ?? database.prepare(statement)
    prepared.set(statement, made)
    return made
  }
  const sql: SqlStatements = {
    run: (statement, ...values) => void prepare(statement).run(...values),
    get: (statement, ...values) => prepare(statement).get(...values) as SqlRow | undefined,
    all: (statement, ...values) => prepare(statement).all(...values) as SqlRow[],
  }
  return {
    read: async (work) => work(sql),
    write: async (work) => {
      database.exec('BEGIN')
      try {
        const result = work(sql)
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    onForeignWrite: () => () => {},
  }
}
