import {
  type SqlDatabase,
  SqlError,
  type SqlRow,
  type SqlStatements,
  type SqlValue,
} from '@helix-agents/store-sql'

export interface StoreNamespace {
  newUniqueId(): unknown
  get(id: unknown): unknown
}

/** The part of `DurableObjectStorage` that the port needs. */
export interface Storage {
  readonly sql: { exec(statement: string, ...values: SqlValue[]): { toArray(): SqlRow[] } }
  transactionSync<T>(work: () => T): T
}

/** The port on the database of a Durable Object. */
export class DurableObjectDatabase implements SqlDatabase {
  readonly #storage: Storage
  readonly #statements: SqlStatements

  constructor(storage: Storage) {
    this.#storage = storage
    const all = (statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] => {
      try {
        return storage.sql.exec(statement, ...values).toArray()
      } catch (error) {
        throw new SqlError('failed', String(error), { cause: error })
      }
    }
    this.#statements = {
      run: (statement, ...values) => void all(statement, ...values),
      get: (statement, ...values) => all(statement, ...values)[0],
      all,
    }
  }

  async read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return work(this.#statements)
  }

  async write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#storage.transactionSync(() => work(this.#statements))
  }

  /** There is one connection. */
  onForeignWrite(): () => void {
    return () => undefined
  }
}
