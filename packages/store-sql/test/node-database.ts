import { DatabaseSync } from 'node:sqlite'
import type { SqlDatabase, SqlRow, SqlStatements } from '@helix-agents/store-sql'
import { onTestFinished } from 'vitest'

/** A database in memory that ends with the test. */
export function openDatabase(): SqlDatabase {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const sql: SqlStatements = {
    run: (statement, ...values) => void database.prepare(statement).run(...values),
    get: (statement, ...values) => database.prepare(statement).get(...values) as SqlRow | undefined,
    all: (statement, ...values) => database.prepare(statement).all(...values) as SqlRow[],
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
