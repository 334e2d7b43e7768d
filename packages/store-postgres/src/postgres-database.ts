import { type SqlDatabase, SqlError, type SqlStatements } from '@helix-agents/store-sql'
import { ExponentialBackoff, handleWhen, retry } from 'cockatiel'
import { type Connection, Connections } from './connections.ts'
import { ForeignWrites } from './foreign-writes.ts'
import {
  parseOptions,
  type PostgresDatabaseOptions,
  type PostgresSettings,
} from './postgres-options.ts'
import { type Committed, readTransaction, UnknownCommit, writeTransaction } from './transaction.ts'
import { transactionStatus } from './transaction-status.ts'

/** A transaction that was the victim of a deadlock did nothing and may run again. */
const MAX_ATTEMPTS = 1000
const FIRST_DELAY_MS = 20
const MAX_DELAY_MS = 1000

/**
 * A PostgreSQL database under the stores. Each transaction has a connection of its own; one whose
 * connection was lost runs again, unless the server says that it was committed.
 */
export class PostgresDatabase implements SqlDatabase {
  readonly #settings: PostgresSettings
  readonly #connections: Connections
  readonly #foreignWrites: ForeignWrites
  /** Calls that were not answered yet. */
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /**
   * Connects at the first call.
   * @param url as `postgresql://user:password@host:5432/database?sslmode=require`
   * @throws {RangeError} for an option that cannot be used.
   */
  constructor(url: string, options: PostgresDatabaseOptions = {}) {
    this.#settings = parseOptions(options)
    this.#connections = new Connections(url, this.#settings)
    this.#foreignWrites = new ForeignWrites(this.#connections, this.#settings)
  }

  /** Runs `work` on one consistent view of the data. @throws {SqlError} */
  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#track(() =>
      this.#persist(() => this.#connected((one) => readTransaction(one, work, this.#settings))),
    )
  }

  /** Runs `work` in one transaction: wholly, or not at all when it throws. @throws {SqlError} */
  write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#track(async () => {
      const { value, notified } = await this.#writeUntilKnown(work)
      if (notified.streams.length > 0) this.#foreignWrites.notify(notified)
      return value
    })
  }

  /** Calls `listener` soon after another process has written, and after `close`. */
  onForeignWrite(
    listener: (streams?: readonly number[], replaced?: readonly number[]) => void,
  ): () => void {
    return this.#foreignWrites.listen(listener)
  }

  /** As `read`, without waiting for a server that cannot be reached. @throws {SqlError} */
  readOnce<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#connected((one) => readTransaction(one, work, this.#settings))
  }

  /**
   * Ends the connections, when the calls before it are answered and the readers of other processes are
   * notified. Closing again does nothing.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const stopped = this.#foreignWrites.close()
    await Promise.allSettled(this.#running)
    await this.#foreignWrites.flush()
    await Promise.all([stopped, this.#connections.close()])
  }

  async #track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new SqlError('closed', 'the database was closed')
    const running = run()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** A transaction runs again only when the server says that it was rolled back. */
  async #writeUntilKnown<T>(work: (sql: SqlStatements) => T): Promise<Committed<T>> {
    for (;;) {
      try {
        return await this.#persist(() =>
          this.#connected((one) => writeTransaction(one, work, this.#settings)),
        )
      } catch (error) {
        if (!(error instanceof UnknownCommit)) throw error
        const status = await this.#statusOf(error)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- thrown by the write above
        if (status === 'committed') return error.result as Committed<T>
        if (status !== 'aborted') throw new SqlError('unreachable', error.message, { cause: error })
      }
    }
  }

  /** How a transaction ended. @throws {SqlError} */
  #statusOf({ transaction }: UnknownCommit): Promise<unknown> {
    return this.#persist(async () => {
      const status = await transactionStatus((work) => this.readOnce(work), transaction)
      if (status === 'in progress') throw new SqlError('unreachable', 'the transaction still ends')
      return status
    })
  }

  #connected<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#connections.with(use)
  }

  /** Runs again what did nothing because of the server, until it takes too long. */
  #persist<T>(run: () => Promise<T>): Promise<T> {
    const { clock, reconnectTimeoutMs } = this.#settings
    const deadline = clock.now() + reconnectTimeoutMs
    const policy = retry(
      handleWhen((error) => isPassing(error) && clock.now() < deadline && !this.#isClosed),
      {
        maxAttempts: MAX_ATTEMPTS,
        backoff: new ExponentialBackoff({ initialDelay: FIRST_DELAY_MS, maxDelay: MAX_DELAY_MS }),
      },
    )
    return policy.execute(run)
  }
}

/** Nothing was stored, and the same may succeed later. */
function isPassing(error: unknown): boolean {
  return error instanceof SqlError && ['unreachable', 'busy', 'read-only'].includes(error.kind)
}
