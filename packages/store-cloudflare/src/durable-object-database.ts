import {
  type SqlDatabase,
  type SqlRow,
  type SqlStatements,
  type SqlValue,
  toSqlRow,
} from '@helix-agents/store-sql'
import { assertFit, MAX_ROW_BYTES } from './sql-values.ts'
import { isSqliteError, toSqlError } from './to-sql-error.ts'

/**
 * The database of one Durable Object, which is the only one that reads and writes it. Everything
 * runs at once and synchronously; what was written is on disk before the object answers.
 */
export class DurableObjectDatabase implements SqlDatabase {
  /** Two databases of one object would miss each other's writes. */
  static readonly #known = new WeakMap<DurableObjectStorage, DurableObjectDatabase>()

  readonly #storage: DurableObjectStorage
  readonly #statements: SqlStatements

  /** The one database of an object, however often it is asked for. */
  static of(storage: DurableObjectStorage): DurableObjectDatabase {
    const known = DurableObjectDatabase.#known.get(storage)
    if (known !== undefined) return known
    const made = new DurableObjectDatabase(storage)
    DurableObjectDatabase.#known.set(storage, made)
    return made
  }

  private constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#statements = new DurableObjectStatements(storage.sql)
  }

  /** Runs `work` on one consistent view of the data. @throws {SqlError} */
  async read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return work(this.#statements)
  }

  /** Runs `work` in one transaction: wholly, or not at all when it throws. @throws {SqlError} */
  async write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    try {
      return this.#storage.transactionSync(() => work(this.#statements))
    } catch (error) {
      // Also the begin and the end of a transaction find the object full.
      throw isSqliteError(error) ? toSqlError(error) : error
    }
  }

  /** Does nothing: no other connection writes. */
  onForeignWrite(): () => void {
    return () => {}
  }
}

class DurableObjectStatements implements SqlStatements {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.all(statement, ...values)
  }

  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    return this.all(statement, ...values)[0]
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    assertFit(values, MAX_ROW_BYTES)
    try {
      return this.#sql
        .exec(statement, ...values)
        .toArray()
        .map(toSqlRow)
    } catch (error) {
      throw toSqlError(error)
    }
  }
}
