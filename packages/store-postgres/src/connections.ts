import { SqlError, type SqlRow, toSqlRow } from '@helix-agents/store-sql'
import { Client, type ClientConfig, Pool, type PoolClient, type QueryResult, types } from 'pg'
import { toPostgres } from './dialect.ts'
import { toSqlError } from './postgres-error.ts'
import type { PostgresSettings } from './postgres-options.ts'
import type { Asked } from './replay.ts'

const BIGINT = types.builtins.INT8

/** Counters and keys are whole numbers that fit; everything else stays as it is read. */
const columnTypes: ClientConfig['types'] = {
  getTypeParser: (oid, format) => (oid === BIGINT ? Number : types.getTypeParser(oid, format)),
}

/** A client that this long had no answer is given up, however it hangs. */
const HANGS_AFTER_MS = 5000

/** Connections to one database. */
export class Connections {
  readonly #config: ClientConfig
  readonly #pool: Pool
  readonly #settings: PostgresSettings
  /** Names of prepared statements, by their text: each connection prepares each once. */
  readonly #names = new Map<string, { readonly name: string; readonly text: string }>()

  constructor(url: string, settings: PostgresSettings) {
    const { connectTimeoutMs, maxConnections, statementTimeoutMs, tls } = settings
    this.#settings = settings
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs + HANGS_AFTER_MS,
      fallback_application_name: 'helix-agents',
      keepAlive: true,
      types: columnTypes,
      ...(tls !== undefined && { ssl: tls }),
    }
    this.#pool = new Pool({
      ...this.#config,
      pipeline: true,
      max: maxConnections,
      allowExitOnIdle: true,
    })
    // A connection that was cut while idle: the next call makes another one.
    this.#pool.on('error', () => {})
  }

  /** Runs `use` with a connection of its own; one on which it fails is closed. @throws {SqlError} */
  async with<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const connection = new Connection(client, (asked) => this.#prepare(asked))
    client.on('error', connection.lose)
    let failure: unknown
    try {
      return await use(connection)
    } catch (error) {
      failure = error
      throw error
    } finally {
      client.off('error', connection.lose)
      client.release(connection.isLost || breaks(failure))
    }
  }

  /** A connection that is not of the pool, for listening. @throws {SqlError} */
  async open(): Promise<Client> {
    const client = new Client({ ...this.#config, query_timeout: 0 })
    // What happens before someone listens for it is reported by `connect`.
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      throw toSqlError(error)
    }
  }

  get isClosed(): boolean {
    return this.#pool.ending
  }

  /** Waits for the connections that are used. */
  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #connect(): Promise<PoolClient> {
    if (this.#pool.ending) throw new SqlError('closed', 'the database was closed')
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw toSqlError(error)
    }
  }

  /** Behind a transaction pooler the next transaction may be on another connection. */
  #prepare(statement: string): { readonly name?: string; readonly text: string } {
    const known = this.#names.get(statement)
    if (known !== undefined) return known
    const text = toPostgres(statement)
    if (!this.#settings.listen) return { text }
    const made = { name: `helix_${this.#names.size}`, text }
    this.#names.set(statement, made)
    return made
  }
}

/** Whether a connection cannot be used again after an error. */
function breaks(failure: unknown): boolean {
  return (
    failure instanceof SqlError && ['unreachable', 'read-only', 'closed'].includes(failure.kind)
  )
}

/** One connection, for as long as it is used. */
export class Connection {
  readonly #client: PoolClient
  readonly #prepare: (statement: string) => { readonly name?: string; readonly text: string }
  #isLost = false

  constructor(
    client: PoolClient,
    prepare: (statement: string) => { readonly name?: string; readonly text: string },
  ) {
    this.#client = client
    this.#prepare = prepare
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** The connection ended; what waits for it fails by itself. */
  readonly lose = (): void => {
    this.#isLost = true
  }

  /** One or more statements without values. @returns the rows of the last one. @throws {SqlError} */
  command(text: string): Promise<readonly SqlRow[]> {
    return this.#query({ text })
  }

  /** @throws {SqlError} */
  async ask(asked: Asked): Promise<void> {
    asked.rows = await this.#query({ ...this.#prepare(asked.statement), values: [...asked.values] })
  }

  async #query(query: {
    readonly text: string
    readonly name?: string
    readonly values?: unknown[]
  }): Promise<readonly SqlRow[]> {
    try {
      // Of several statements `pg` gives the results of all.
      const results: QueryResult | QueryResult[] = await this.#client.query(query)
      const result = Array.isArray(results) ? results.at(-1) : results
      return (result?.rows ?? []).map(toSqlRow)
    } catch (error) {
      throw toSqlError(error)
    }
  }
}

/** Waits for all; throws what failed first in their order, since the others only follow from it. */
export async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent)
  const failed = results.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
