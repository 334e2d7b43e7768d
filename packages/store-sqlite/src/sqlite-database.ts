import { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock } from '@helix-agents/core'
import { type SqlDatabase, SqlError, type SqlStatements } from '@helix-agents/store-sql'
import { FilePlace } from './file-place.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { LockQueue } from './lock-queue.ts'
import { toSqlError } from './sqlite-error.ts'
import { createFile, toDatabasePath } from './sqlite-file.ts'
import { SqliteStatements } from './sqlite-statements.ts'

/** How {@link SqliteDatabase} opens a file. */
export interface SqliteDatabaseOptions {
  /** Only reads; the file must exist. Default false. */
  readonly readOnly?: boolean
  /** How long a call waits for the lock of another process, in milliseconds. Default 5 000. */
  readonly busyTimeoutMs?: number
  /**
   * `normal`: what was written survives the end of the process, `kill -9` included; after a power
   * loss the last writes may be missing, as if they had not happened. `full`: it survives a power
   * loss as well; every write waits for the disk. Default `normal`.
   */
  readonly synchronous?: 'normal' | 'full'
  /** Time for waiting and for what is stored as such. Default: the time of the machine. */
  readonly clock?: Clock
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000
const SYNCHRONOUS: readonly string[] = ['normal', 'full']

/** SQLite itself waits no longer, since that blocks the event loop. */
const LOCK_WAIT_MS = 1

/** Pages of the log before they go to the file: fewer, longer pauses than the default of 1 000. */
const CHECKPOINT_PAGES = 2000
/** After a burst the log shrinks to this. */
const LOG_BYTES = 64 * 1024 * 1024
const CACHE_KIB = 16 * 1024

/**
 * One connection to a database file in WAL mode. Transactions run at once and synchronously,
 * unless another connection holds the lock.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly #database: DatabaseSync
  readonly #statements: SqliteStatements
  readonly #writes: LockQueue
  readonly #reads: LockQueue
  readonly #foreignWrites: ForeignWrites
  readonly #place: FilePlace

  private constructor(database: DatabaseSync, file: string, options: SqliteDatabaseOptions) {
    const { busyTimeoutMs = DEFAULT_BUSY_TIMEOUT_MS, clock = systemClock } = options
    this.#database = database
    this.#place = new FilePlace(file, clock)
    this.#statements = new SqliteStatements(database)
    this.#writes = new LockQueue({ clock, busyTimeoutMs })
    this.#reads = new LockQueue({ clock, busyTimeoutMs })
    const readVersion = (): number | undefined => this.#dataVersion()
    this.#foreignWrites = new ForeignWrites({ clock, readVersion })
  }

  /**
   * Opens a file, and makes it if it is missing; `:memory:` is a database that ends with its
   * connection.
   * @throws {SqlError}
   * @throws {RangeError} for an option that cannot be used.
   */
  static async open(path: string, options: SqliteDatabaseOptions = {}): Promise<SqliteDatabase> {
    checkOptions(options)
    const { readOnly = false } = options
    const file = toDatabasePath(path)
    if (!readOnly) createFile(file)
    const database = new SqliteDatabase(connect(file, readOnly), file, options)
    try {
      await database.#configure(options)
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** Runs `work` on one consistent view of the data. @throws {SqlError} */
  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#reads.run(() => this.#transaction('BEGIN', work))
  }

  /**
   * Runs `work` in one transaction, in the order of the calls.
   * @throws {SqlError} `moved` when the file is not where it was opened any more.
   */
  write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#writes.run(() => {
      this.#place.assertKept()
      return this.#transaction('BEGIN IMMEDIATE', work)
    })
  }

  /** Calls `listener` soon after another connection has written, and after `close`. */
  onForeignWrite(listener: () => void): () => void {
    return this.#foreignWrites.listen(listener)
  }

  /** Ends the connection; what waits for a lock fails as `closed`. Closing again does nothing. */
  async close(): Promise<void> {
    const reason = closed()
    this.#writes.close(reason)
    this.#reads.close(reason)
    if (this.#database.isOpen) this.#database.close()
    this.#foreignWrites.close()
  }

  /** Changing the mode of a file needs its lock, hence the queue. */
  #configure({ readOnly = false, synchronous = 'normal' }: SqliteDatabaseOptions): Promise<void> {
    return this.#writes.run(() => {
      const pragmas = [
        `cache_size = -${CACHE_KIB}`,
        'cell_size_check = ON',
        'trusted_schema = OFF',
        ...(readOnly ? ['query_only = ON'] : writablePragmas(synchronous)),
        // Reads the first page: a file that is no database is rejected here.
        'schema_version',
      ]
      for (const pragma of pragmas) this.#statements.get(`PRAGMA ${pragma}`)
    })
  }

  #dataVersion(): number | undefined {
    if (!this.#database.isOpen || this.#database.isTransaction) return undefined
    try {
      const version = this.#statements.get('PRAGMA data_version')?.['data_version']
      return typeof version === 'number' ? version : undefined
    } catch (error) {
      // A locked or failing file is reported to those who read it.
      if (error instanceof SqlError) return undefined
      throw error
    }
  }

  #transaction<T>(begin: string, work: (sql: SqlStatements) => T): T {
    if (!this.#database.isOpen) throw closed()
    try {
      this.#statements.run(begin)
      const result = work(this.#statements)
      this.#statements.run('COMMIT')
      return result
    } catch (error) {
      // SQLite may have rolled back by itself, as it does when the disk is full.
      if (this.#database.isTransaction) this.#statements.run('ROLLBACK')
      throw error
    }
  }
}

function checkOptions({ busyTimeoutMs = 0, synchronous = 'normal' }: SqliteDatabaseOptions): void {
  if (!(busyTimeoutMs >= 0)) {
    throw new RangeError(`busyTimeoutMs must be at least 0, not ${busyTimeoutMs}`)
  }
  if (!SYNCHRONOUS.includes(synchronous)) {
    throw new RangeError(`synchronous must be normal or full, not ${synchronous}`)
  }
}

function connect(file: string, readOnly: boolean): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly, timeout: LOCK_WAIT_MS })
  } catch (error) {
    throw toSqlError(error)
  }
}

function writablePragmas(synchronous: 'normal' | 'full'): readonly string[] {
  return [
    'journal_mode = WAL',
    `synchronous = ${synchronous}`,
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    `journal_size_limit = ${LOG_BYTES}`,
  ]
}

function closed(): SqlError {
  return new SqlError('closed', 'the connection was closed')
}
