import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type SqlRow, type SqlStatements, type SqlValue, toSqlRow } from '@helix-agents/store-sql'
import { toSqlError } from './sqlite-error.ts'

/** Statements of one connection; each text is prepared once. */
export class SqliteStatements implements SqlStatements {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    try {
      this.#prepare(statement).run(...values)
    } catch (error) {
      throw toSqlError(error)
    }
  }

  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    try {
      const row = this.#prepare(statement).get(...values)
      return row === undefined ? undefined : toSqlRow(row)
    } catch (error) {
      throw toSqlError(error)
    }
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    try {
      return this.#prepare(statement)
        .all(...values)
        .map(toSqlRow)
    } catch (error) {
      throw toSqlError(error)
    }
  }

  #prepare(statement: string): StatementSync {
    const known = this.#prepared.get(statement)
    if (known !== undefined) return known
    const made = this.#database.prepare(statement)
    this.#prepared.set(statement, made)
    return made
  }
}
