import type { Clock, Logger } from '@helix-agents/core'
import type { Db, Job, JobAttempt, PgBoss } from 'pg-boss'

/** How a consumer runs turns. */
export interface ConsumerOptions {
  /** Turns at a time. */
  readonly concurrency: number
  /** Turns of one tenant at a time, on all machines. */
  readonly turnsPerTenant: number
  /** Longest time between two polls of the queue, in milliseconds. */
  readonly pollMs: number
  readonly clock: Clock
  readonly logger: Logger
  /** Runs a turn; what it throws puts the turn back. */
  readonly run: (turnId: string, data: object) => Promise<object>
  /** Changes the statement of a claim, before its values are set. */
  readonly restrict?: (claim: string) => string
  /** Receives how long each claim took, in milliseconds. */
  readonly onClaim?: (ms: number) => void
}

/** Thrown by `run` when a turn cannot begin now: it waits in the queue again, as if it had not been claimed. */
export class PutBack extends Error {
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** The queue of a consumer. */
export interface ConsumedQueue {
  readonly boss: PgBoss
  readonly name: string
  /** Name of the table of jobs, with its schema. */
  readonly table: string
}

const HEARTBEAT_MS = 3000
/**
 * Claims come one after the other: two at once would not see each other's tenants. None waits for a disk:
 * after a crash of the server a turn may be claimed again, and its session then decides that nothing is left
 * to do.
 */
const CLAIM =
  "SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(4711000019);"

/** Claims turns while there is room, and says of each how it ended. */
export class TurnConsumer {
  readonly #boss: PgBoss
  readonly #queue: string
  readonly #table: string
  readonly #options: ConsumerOptions
  readonly #active = new Map<
    string,
    { readonly attempt: JobAttempt; readonly done: Promise<void> }
  >()
  #wake = Promise.withResolvers<void>()
  #isStopping = false
  #loop: Promise<void> = Promise.resolve()
  #cancelHeartbeat: () => void = () => {}

  constructor({ boss, name, table }: ConsumedQueue, options: ConsumerOptions) {
    this.#boss = boss
    this.#queue = name
    this.#table = table
    this.#options = options
  }

  start(): void {
    this.#loop = this.#run()
    this.#scheduleHeartbeat()
  }

  /** There may be turns: polls at once. */
  wake(): void {
    this.#wake.resolve()
  }

  /** Claims no more, and waits for the turns under way. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.wake()
    await this.#loop
    await Promise.all([...this.#active.values()].map(({ done }) => done))
    this.#cancelHeartbeat()
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#wake = Promise.withResolvers()
      const room = this.#options.concurrency - this.#active.size
      const jobs = room > 0 ? await this.#claim(room) : []
      for (const job of jobs) this.#begin(job)
      // A claim passes over turns of a tenant that is at its limit; the next one finds those behind them.
      if (jobs.length === 0) await this.#untilWoken()
    }
  }

  async #untilWoken(): Promise<void> {
    const { clock, pollMs } = this.#options
    const cancel = clock.setTimer(pollMs, () => this.wake())
    await this.#wake.promise
    cancel()
  }

  async #claim(room: number): Promise<readonly Job[]> {
    const startedAt = performance.now()
    try {
      const jobs = await this.#claimLocked(room)
      this.#options.onClaim?.(performance.now() - startedAt)
      return jobs
    } catch (err) {
      this.#options.logger.error({ err }, 'turns not claimed')
      return []
    }
  }

  #claimLocked(room: number): Promise<readonly Job[]> {
    const db = this.#boss.getDb()
    const { restrict = (claim: string) => claim } = this.#options
    return this.#boss.fetch<object>(this.#queue, {
      batchSize: room,
      groupConcurrency: this.#options.turnsPerTenant,
      db: { executeSql: (text, values) => inOneTrip(db, restrict(text), values) },
    })
  }

  #begin(job: Job): void {
    const { id, retryCount } = job
    const attempt = { id, retryCount }
    const done = this.#settle(job, attempt).finally(() => {
      this.#active.delete(id)
      this.wake()
    })
    this.#active.set(id, { attempt, done })
  }

  /** A result that cannot be stored is lost: the turn comes again, and is found done. */
  async #settle(job: Job, attempt: JobAttempt): Promise<void> {
    const { run, logger } = this.#options
    try {
      const outcome = await this.#outcomeOf(() => run(job.id, job.data))
      if (outcome instanceof PutBack) await this.#putBack(attempt, outcome.waitMs)
      else if ('error' in outcome) await this.#boss.fail(this.#queue, attempt, outcome.error)
      else await this.#boss.complete(this.#queue, attempt, outcome.value)
    } catch (err) {
      logger.error({ err, turnId: job.id }, 'end of turn not stored')
    }
  }

  /** It goes before later turns of its session; only one that an earlier attempt has begun counts as begun. */
  async #putBack({ id, retryCount }: JobAttempt, waitMs: number): Promise<void> {
    await this.#boss.getDb().executeSql(
      `UPDATE ${this.#table} SET heartbeat_on = NULL, start_after = now() + $4 * interval '1 ms',
        state = 'retry',
        started_on = CASE retry_count WHEN 0 THEN NULL ELSE started_on END
      WHERE name = $1 AND id = $2 AND retry_count = $3 AND state = 'active'`,
      [this.#queue, id, retryCount, waitMs],
    )
  }

  async #outcomeOf(
    run: () => Promise<object>,
  ): Promise<{ readonly value: object } | { readonly error: object } | PutBack> {
    try {
      return { value: await run() }
    } catch (error) {
      if (error instanceof PutBack) return error
      return { error: { message: error instanceof Error ? error.message : String(error) } }
    }
  }

  #scheduleHeartbeat(): void {
    const { clock, logger } = this.#options
    this.#cancelHeartbeat = clock.setTimer(HEARTBEAT_MS, () => {
      const attempts = [...this.#active.values()].map(({ attempt }) => attempt)
      const touched = attempts.length > 0 ? this.#boss.touch(this.#queue, attempts) : undefined
      touched?.catch((err: unknown) => logger.error({ err }, 'turns not renewed'))
      this.#scheduleHeartbeat()
    })
  }
}

/**
 * Runs a claim behind its lock, as one transaction of the server: a machine that freezes keeps no other one
 * from claiming. Several statements take no values, so numbers are written into the text.
 */
async function inOneTrip(db: Db, text: string, values: readonly unknown[] = []) {
  const claim = text.replaceAll(/\$(\d+)/g, (_, position) => {
    const value = values[Number(position) - 1]
    if (Number.isSafeInteger(value)) return `${Number(value)}`
    throw new TypeError('a claim takes numbers only')
  })
  const results: unknown = await db.executeSql(`${CLAIM} ${claim}`)
  const last: unknown = Array.isArray(results) ? results.at(-1) : results
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `pg` gives one result for each statement
  return last as Awaited<ReturnType<Db['executeSql']>>
}
