/** What is stored in a column. */
export type SqlValue = string | number | null

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/**
 * The statements of one transaction. A database prepares each text once. They throw `SqlError`;
 * when the caller catches one, the transaction continues. Any other error that they throw is passed
 * on: a database that cannot answer at once runs `work` again when it has the answer.
 */
export interface SqlStatements {
  run(statement: string, ...values: readonly SqlValue[]): void
  /** The first row. */
  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined
  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[]
  /** What only a server of many connections has. Default: transactions run one after the other. */
  readonly server?: SqlServerStatements
}

/** What the statements of a transaction need besides, where transactions run beside each other. */
export interface SqlServerStatements {
  /** Locks rows until the transaction ends; what is read later is what they are by then. */
  lock(statement: string, ...values: readonly SqlValue[]): void
  /**
   * The time by which leases begin and end, in milliseconds since the epoch; `undefined` when that
   * of the caller counts.
   */
  now(): number | undefined
  /** Runs works that do not depend on each other: what they ask for travels together. */
  together<T>(works: readonly (() => T)[]): readonly T[]
  /**
   * Wakes the readers of these streams in other processes, once they are committed.
   * @param replaced those of them of which it is out of date what readers hold. Default: none.
   */
  notify(streams: readonly number[], replaced?: readonly number[]): void
}

/**
 * A database under the stores: a SQLite file, the storage of a Durable Object, a server. Its errors
 * are `SqlError`s; an error that `work` throws is passed on as it is. `work` depends on nothing but
 * what it reads, and changes nothing but the database: it may run several times.
 */
export interface SqlDatabase {
  /** Runs `work` on one consistent view of the data. */
  read<T>(work: (sql: SqlStatements) => T): Promise<T>
  /**
   * Runs `work` in one transaction: wholly, or not at all when it throws. In a file or an object,
   * transactions run in the order of their calls, and at once, unless another connection holds the
   * lock.
   */
  write<T>(work: (sql: SqlStatements) => T): Promise<T>
  /**
   * Calls `listener` soon after another connection has written, and when the database was closed:
   * whoever waits for a change must read again. It names the streams that changed, and those of
   * which it is out of date what readers hold, where the database knows them: without a name it may be any.
   * The result removes the listener.
   */
  onForeignWrite(
    listener: (streams?: readonly number[], replaced?: readonly number[]) => void,
  ): () => void
}

/** Runs works that do not depend on each other, in their order where the database is a file. */
export function runTogether<T>(sql: SqlStatements, works: readonly (() => T)[]): readonly T[] {
  return sql.server?.together(works) ?? works.map((work) => work())
}
