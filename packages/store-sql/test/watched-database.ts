import type { SqlDatabase, SqlStatements } from '@helix-agents/store-sql'

/** Passes everything on to a database, and notes it; fails and waits when it is told to. */
export class WatchedDatabase implements SqlDatabase {
  /** Transactions, and the statements in them. */
  reads = 0
  writes = 0
  statements: string[] = []
  /** Writes that were asked for, also those that wait. */
  asked = 0
  /** Who waits for changes of other processes. */
  listeners = 0
  /** Runs at the end of each transaction; one in which it throws is rolled back. */
  failure: ((sql: SqlStatements) => void) | undefined
  /** Runs before each statement, and may throw in its place. */
  onStatement: ((statement: string) => void) | undefined
  /** Transactions begin after it. */
  gate: Promise<void> | undefined
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  async read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    await this.gate
    this.reads++
    return this.#database.read((sql) => this.#run(sql, work))
  }

  async write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    this.asked++
    await this.gate
    this.writes++
    return this.#database.write((sql) => this.#run(sql, work))
  }

  onForeignWrite(listener: () => void): () => void {
    this.listeners++
    const stop = this.#database.onForeignWrite(listener)
    return () => {
      this.listeners--
      stop()
    }
  }

  #run<T>(sql: SqlStatements, work: (sql: SqlStatements) => T): T {
    const result = work({
      run: (statement, ...values) => sql.run(this.#note(statement), ...values),
      get: (statement, ...values) => sql.get(this.#note(statement), ...values),
      all: (statement, ...values) => sql.all(this.#note(statement), ...values),
    })
    this.failure?.(sql)
    return result
  }

  #note(statement: string): string {
    this.statements.push(statement)
    this.onStatement?.(statement)
    return statement
  }
}
