/** What is stored in a column. */
export type SqlValue = string | number | null

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/**
 * The statements of one transaction. A database prepares each text once. They throw `SqlError`;
 * when the caller catches one, the transaction continues.
 */
export interface SqlStatements {
  run(statement: string, ...values: readonly SqlValue[]): void
  /** The first row. */
  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[]
}

/**
 * A SQLite database whose statements run synchronously, such as a file on disk or the storage of
 * a Durable Object. Its errors are `SqlError`s; an error that `work` throws is passed on as it is.
 */
export interface SqlDatabase {
  /** Runs `work` on one consistent view of the data. */
  read<T>(work: (sql: SqlStatements) => T): Promise<T>
  /**
   * Runs `work` in one transaction: wholly, or not at all when it throws. Transactions run in the
   * order of their calls, and at once, unless another connection holds the lock.
   */
  write<T>(work: (sql: SqlStatements) => T): Promise<T>
  /**
   * Calls `listener` soon after another connection has written, and when the database was closed:
   * whoever waits for a change must read again. The result removes the listener.
   */
  onForeignWrite(listener: () => void): () => void
}
