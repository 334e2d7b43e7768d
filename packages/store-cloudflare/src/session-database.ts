import { type Clock, systemClock } from '@helix-agents/core'
import { migrate, type SqlDatabase, type SqlStatements } from '@helix-agents/store-sql'
import { DurableObjectDatabase } from './durable-object-database.ts'

const FIND_TABLES = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'helix_schema'"

/** What a database without tables answers. */
const nothingStored: SqlStatements = { run: () => {}, get: () => undefined, all: () => [] }

/**
 * The tables of sessions and streams in the database of an object. Their first write makes them:
 * an object that was only asked for something stores nothing.
 */
export class SessionDatabase implements SqlDatabase {
  /** Two of one object would miss each other's writes. */
  static readonly #known = new WeakMap<DurableObjectStorage, SessionDatabase>()

  readonly #database: DurableObjectDatabase
  readonly #clock: Clock
  #hasTables = false

  /** The one of an object, however often it is asked for. */
  static of(storage: DurableObjectStorage, clock: Clock = systemClock): SessionDatabase {
    const known = SessionDatabase.#known.get(storage)
    if (known !== undefined) return known
    const made = new SessionDatabase(storage, clock)
    SessionDatabase.#known.set(storage, made)
    return made
  }

  private constructor(storage: DurableObjectStorage, clock: Clock) {
    this.#database = DurableObjectDatabase.of(storage)
    this.#clock = clock
  }

  /** Brings tables that are there up to date. @throws {StateStoreError} `schema-version` */
  async open(): Promise<void> {
    if (await this.hasTables()) await this.#migrate()
  }

  /** Whether anything was written yet. @throws {SqlError} */
  hasTables(): Promise<boolean> {
    return this.#database.read((sql) => this.#findTables(sql))
  }

  /** Runs `work` on one consistent view of the data. @throws {SqlError} */
  read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return this.#database.read((sql) => work(this.#findTables(sql) ? sql : nothingStored))
  }

  /** Runs `work` in one transaction: wholly, or not at all when it throws. @throws {SqlError} */
  async write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    if (!this.#hasTables && !(await this.hasTables())) await this.#migrate()
    return this.#database.write(work)
  }

  /** Does nothing: no other connection writes. */
  onForeignWrite(): () => void {
    return () => {}
  }

  /** The tables were removed: the next write makes them again. */
  forget(): void {
    this.#hasTables = false
  }

  #migrate(): Promise<void> {
    return migrate(this.#database, { now: this.#clock.now() })
  }

  /** Queries until they are there. */
  #findTables(sql: SqlStatements): boolean {
    this.#hasTables ||= sql.get(FIND_TABLES) !== undefined
    return this.#hasTables
  }
}
