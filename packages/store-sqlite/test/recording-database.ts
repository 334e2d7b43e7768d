import type { SqlDatabase, SqlRow, SqlStatements, SqlValue } from '@helix-agents/store-sql'

export interface Recorded {
  readonly statement: string
  readonly values: readonly SqlValue[]
}

/** Notes every statement on its way to a database. */
export class RecordingDatabase implements SqlDatabase {
  readonly #database: SqlDatabase
  #recorded: Recorded[] = []

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  /** The statements since the last call. */
  take(): readonly Recorded[] {
    const recorded = this.#recorded
    this.#recorded = []
    return recorded
  }

  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.read((sql) => work(this.#record(sql)))
  }

  write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.write((sql) => work(this.#record(sql)))
  }

  onForeignWrite(listener: () => void): () => void {
    return this.#database.onForeignWrite(listener)
  }

  #record(sql: SqlStatements): SqlStatements {
    const note = (statement: string, values: readonly SqlValue[]): void =>
      void this.#recorded.push({ statement, values })
    return {
      run: (statement, ...values) => {
        note(statement, values)
        sql.run(statement, ...values)
      },
      get: (statement, ...values): SqlRow | undefined => {
        note(statement, values)
        return sql.get(statement, ...values)
      },
      all: (statement, ...values) => {
        note(statement, values)
        return sql.all(statement, ...values)
      },
    }
  }
}
