import type { Agent, Logger, UserMessage } from '@helix-agents/core'
import type {
  CancelledTurns,
  EnqueuedTurn,
  TurnOptions,
  TurnQueuePort,
  TurnStatus,
} from '@helix-agents/core/runtime'
import { PgBoss } from 'pg-boss'
import { QueueError, toQueueError } from './queue-error.ts'
import { checkId, checkLabels, isColumnText, toMessage, type Turn, turnToJson } from './turn.ts'
import { type ConsumerOptions, TurnConsumer } from './turn-consumer.ts'
import { type SessionHome, SessionHomes } from './session-homes.ts'
import { WorkerTable, type WorkerRow } from './worker-table.ts'

/** Options of {@link openTurnQueue}. */
export interface TurnQueueOptions {
  /** Connection string of the database. */
  readonly connectionString: string
  /** Schema of the tables; it is made when it is not there. Default: `helix_queue`. */
  readonly schema?: string
  /** Connections at most, besides the one that listens. Default: 4. */
  readonly maxConnections?: number
  /**
   * Whether a new turn wakes workers by `NOTIFY`. It takes a connection of its own and does not work behind
   * a pooler in transaction mode: `false` there, workers poll. Default: `true`.
   */
  readonly listen?: boolean
  /** Receives errors and warnings of the queue. Default: no log. */
  readonly logger?: Logger
}

/** What waits and what runs. */
export interface QueueStats {
  /** Turns that could start now. */
  readonly ready: number
  /** Turns whose time has not come, retries included. */
  readonly delayed: number
  /** Turns that run. */
  readonly active: number
  /** How long the oldest turn that could start has waited, in milliseconds. 0 when there is none. */
  readonly oldestReadyMs: number
}

const TURNS = 'turns'
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const SCHEMA = /^[a-z_][a-z0-9_]{0,49}$/
/** What an `integer` of PostgreSQL holds. */
const MAX_PRIORITY = 2 ** 31 - 1
const HOUR_SECONDS = 3600
/** Restarts of workers and outages of the database: a turn outlives them all. */
const RETRIES = 1000
const SUPERVISE_SECONDS = 5
const QUEUE = {
  // Turns of one session run one after the other.
  policy: 'singleton',
  retryLimit: RETRIES,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 23 * HOUR_SECONDS,
  heartbeatSeconds: 10,
  deleteAfterSeconds: HOUR_SECONDS,
} as const

/**
 * Opens the queue of turns in a database, and makes its tables. Any number of processes may do so at once.
 *
 * @throws {QueueError} `unavailable`, `access-denied`, `database-missing`, `invalid-option`
 */
export async function openTurnQueue(options: TurnQueueOptions): Promise<TurnQueue> {
  const { connectionString, schema = 'helix_queue', maxConnections = 4, listen = true } = options
  assertDatabaseUrl(connectionString)
  if (!SCHEMA.test(schema)) {
    throw new QueueError('invalid-option', 'schema must be a short name of a-z, 0-9 and _')
  }
  const boss = new PgBoss({
    connectionString,
    schema,
    max: maxConnections,
    application_name: 'helix-queue',
    connectionTimeoutMillis: 10_000,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
  boss.on('error', (err) => options.logger?.error({ err }, 'queue failed'))
  boss.on('warning', ({ message, data }) => options.logger?.warn({ data }, `queue: ${message}`))
  try {
    await boss.start()
    await boss.createQueue(TURNS, QUEUE)
    const workers = new WorkerTable(boss.getDb(), schema)
    const homes = new SessionHomes(boss.getDb(), schema)
    await workers.create()
    await homes.create()
    const queue = new TurnQueue({ boss, schema, workers, homes })
    if (listen) await queue.listen()
    return queue
  } catch (error) {
    await boss.stop({ graceful: false })
    throw toQueueError(error)
  }
}

/** The driver takes what is no URL for a file or the local server, and says that it does not answer. */
function assertDatabaseUrl(given: unknown): void {
  const url = typeof given === 'string' ? URL.parse(given) : null
  if (url?.protocol === 'postgres:' || url?.protocol === 'postgresql:') return
  const wanted = 'connectionString must be postgresql://user:password@host:5432/database'
  throw new QueueError('invalid-option', wanted)
}

interface QueueParts {
  readonly boss: PgBoss
  readonly schema: string
  readonly workers: WorkerTable
  readonly homes: SessionHomes
}

/** Turns of agents that wait for a worker; made by {@link openTurnQueue}. */
export class TurnQueue implements TurnQueuePort, AsyncDisposable {
  readonly #boss: PgBoss
  readonly #schema: string
  readonly #workers: WorkerTable
  readonly #homes: SessionHomes
  readonly #consumers = new Set<TurnConsumer>()
  #listener: { close(): Promise<void> } | undefined

  /** @internal */
  constructor({ boss, schema, workers, homes }: QueueParts) {
    this.#boss = boss
    this.#schema = schema
    this.#workers = workers
    this.#homes = homes
  }

  /**
   * Stores a turn. A worker that knows the agent runs it: it makes the session when there is none, and adds
   * the message once, however often machines die on the way.
   *
   * @throws {QueueError} `invalid-turn`, `unavailable`
   */
  async enqueue(
    agent: Pick<Agent, 'name'>,
    message: string | UserMessage,
    options: TurnOptions = {},
  ): Promise<EnqueuedTurn> {
    const { turnId = crypto.randomUUID(), tenant, priority = 0, startAfter, ...session } = options
    const { sessionId = crypto.randomUUID(), ...create } = session
    assertPlace({ turnId, priority, startAfter })
    const turn = {
      agent: checkId('the name of the agent', agent?.name),
      sessionId: checkId('sessionId', sessionId),
      message: toMessage(message),
      create: checkLabels(sessionId, create),
    }
    await this.#send(turn, {
      id: turnId,
      priority,
      ...(startAfter !== undefined && { startAfter }),
      ...(tenant !== undefined && { group: { id: checkId('tenant', tenant) } }),
    })
    return { sessionId, turnId }
  }

  /** How far a turn is; one that ended is known for an hour. @throws {QueueError} `unavailable` */
  async turnStatus(turnId: string): Promise<TurnStatus> {
    const [row] = await this.#query(
      `SELECT state::text, output->>'outcome' AS outcome, output->>'code' AS code
      FROM ${this.#schema}.job WHERE name = $1 AND id = $2`,
      [TURNS, turnId],
    )
    const state: unknown = row?.['state']
    if (state === 'created' || state === 'retry') return { state: 'queued' }
    if (state === 'active') return { state }
    if (state === 'cancelled') return { state: 'ended', isAborted: true }
    if (state === 'failed') return { state: 'ended', rejected: 'it failed too often' }
    const isRejected = row?.['outcome'] === 'rejected'
    return { state: 'ended', ...(isRejected && { rejected: String(row['code']) }) }
  }

  /**
   * Cancels the turns of a session that wait, or one of them: they never run. None that a worker has.
   * @throws {QueueError} `unavailable`
   */
  async cancelTurns(sessionId: string, turnId?: string): Promise<CancelledTurns> {
    const which = 'name = $1 AND singleton_key = $2 AND ($3::uuid IS NULL OR id = $3::uuid)'
    const values = [TURNS, sessionId, turnId ?? null]
    const job = `${this.#schema}.job`
    // Locked in the order of their ids, as by a change of the home of the session.
    const cancelled = await this.#query(
      `UPDATE ${job} SET state = 'cancelled', completed_on = now()
      WHERE name = $1 AND state < 'active' AND id IN (
        SELECT id FROM ${job} WHERE ${which} AND state < 'active' ORDER BY id FOR UPDATE)
      RETURNING started_on IS NOT NULL AS begun`,
      values,
    )
    // After the update, which waits for a claim that is under way.
    const running = await this.#query(
      `SELECT 1 FROM ${job} WHERE ${which} AND state = 'active'`,
      values,
    )
    const begun = cancelled.some((row) => row['begun'] === true)
    return { cancelled: cancelled.length, begun, active: running.length > 0 }
  }

  /** What waits and what runs, counted now: it takes longer the more waits. @throws {QueueError} `unavailable` */
  async stats(): Promise<QueueStats> {
    const waits = `state < 'active' AND start_after`
    const [row] = await this.#query(
      `SELECT count(*) FILTER (WHERE ${waits} <= now()) AS ready,
        count(*) FILTER (WHERE ${waits} > now()) AS delayed,
        count(*) FILTER (WHERE state = 'active') AS active,
        coalesce(extract(epoch FROM now() - min(greatest(created_on, start_after))
          FILTER (WHERE ${waits} <= now())) * 1000, 0) AS "oldestReadyMs"
      FROM ${this.#schema}.job WHERE name = $1 AND state <= 'active'`,
      [TURNS],
    )
    const value = (name: keyof QueueStats): number => Math.round(Number(row?.[name] ?? 0))
    return {
      ready: value('ready'),
      delayed: value('delayed'),
      active: value('active'),
      oldestReadyMs: value('oldestReadyMs'),
    }
  }

  /** The workers of all machines, those too that fell silent within the last hour. */
  async workers(): Promise<readonly WorkerRow[]> {
    try {
      return await this.#workers.list()
    } catch (error) {
      throw toQueueError(error)
    }
  }

  /** The machines that these sessions stay with; none for a session that any machine continues. */
  async homes(sessionIds: readonly string[]): Promise<readonly SessionHome[]> {
    try {
      const homes = await this.#homes.list(sessionIds.filter(isColumnText))
      return homes.map(({ sessionId, machine, isAlive, isMovable, since }) => {
        return { sessionId, machine, isAlive, isMovable, since }
      })
    } catch (error) {
      throw toQueueError(error)
    }
  }

  /** Closes the connections. Workers of this queue are stopped before. */
  async close(): Promise<void> {
    await this.#listener?.close()
    await this.#boss.stop({ graceful: false })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal Wakes the workers of this process when a turn is stored. */
  async listen(): Promise<void> {
    const wake = (): void => {
      for (const consumer of this.#consumers) consumer.wake()
    }
    this.#listener = await this.#boss.getDb().listen?.(this.#schema, wake, wake)
  }

  /** @internal Lets a worker run turns; the result stops that and waits for the turns under way. */
  consume(options: ConsumerOptions): () => Promise<void> {
    const table = `${this.#schema}.job`
    const consumer = new TurnConsumer({ boss: this.#boss, name: TURNS, table }, options)
    this.#consumers.add(consumer)
    consumer.start()
    return async () => {
      await consumer.stop()
      this.#consumers.delete(consumer)
    }
  }

  /** @internal Lets the workers of all machines look for turns. */
  async wake(): Promise<void> {
    await this.#boss.getDb().executeSql('SELECT pg_notify($1, $2)', [this.#schema, ''])
  }

  /** @internal Lets another worker resume a session. */
  async enqueueResume(turn: Omit<Turn, 'message'>): Promise<void> {
    await this.#send(turn, {})
  }

  /** @internal */
  get workerTable(): WorkerTable {
    return this.#workers
  }

  /** @internal */
  get sessionHomes(): SessionHomes {
    return this.#homes
  }

  async #send(turn: Turn, options: Parameters<PgBoss['send']>[2]): Promise<void> {
    const data = turnToJson(turn)
    try {
      await this.#boss.send(TURNS, data, { ...options, singletonKey: turn.sessionId })
      await this.wake()
    } catch (error) {
      throw toQueueError(error)
    }
  }

  async #query(text: string, values: unknown[]): Promise<Array<Record<string, unknown>>> {
    try {
      return (await this.#boss.getDb().executeSql(text, values)).rows
    } catch (error) {
      throw toQueueError(error)
    }
  }
}

/** When a turn starts, and which it is. @throws {QueueError} `invalid-turn` */
function assertPlace({
  turnId,
  priority,
  startAfter,
}: {
  readonly turnId: string
  readonly priority: number
  readonly startAfter: Date | undefined
}): void {
  if (!UUID.test(turnId)) throw new QueueError('invalid-turn', 'turnId must be a UUID')
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY) {
    const detail = `priority must be a whole number of at most ${MAX_PRIORITY}`
    throw new QueueError('invalid-turn', detail)
  }
  const isDate = startAfter instanceof Date && !Number.isNaN(startAfter.getTime())
  if (startAfter !== undefined && !isDate) {
    throw new QueueError('invalid-turn', 'startAfter must be a date')
  }
}
