import { type Agent, HelixError } from '@helix-agents/core'
import type { AgentHandle, JSAgentExecutor, ShutdownOptions } from '@helix-agents/runtime-js'
import { Affinity } from './affinity.ts'
import { Search } from './search.ts'
import type { TakeOverParts } from './take-over.ts'
import { type Turn, turnFromJson } from './turn.ts'
import { PutBack } from './turn-consumer.ts'
import { type Counted, countsOf, toMetricsText, type WorkerHealth } from './worker-health.ts'
import {
  type ParsedWorkerOptions,
  parseWorkerOptions,
  type WorkerOptions,
} from './worker-options.ts'

/**
 * Makes a worker, which runs the turns of a queue and resumes the sessions of dead machines.
 *
 * @throws {QueueError} `invalid-option`
 */
export function createWorker(executor: JSAgentExecutor, options: WorkerOptions): Worker {
  return new Worker(executor, options)
}

/** Between two counts of the queue: a count takes longer the more waits. */
const COUNT_MS = 30_000

/** Between two looks at a turn whose session is held. */
const MAX_HELD_MS = 5000

/** Thrown inside a job: another worker resumes its turn. */
class HandedOver extends Error {
  override readonly message = 'the worker stops, another one resumes its turn'
}

/** Runs turns; made by {@link createWorker}. */
export class Worker implements AsyncDisposable {
  readonly workerId = crypto.randomUUID()
  readonly #executor: JSAgentExecutor
  readonly #options: ParsedWorkerOptions
  readonly #agents: ReadonlyMap<string, Agent>
  readonly #affinity: Affinity
  readonly #search: Search
  /** Sessions of runs under way → whether they were taken over. */
  readonly #sessions = new Map<string, 'turn' | 'takeover'>()
  readonly #takeovers = new Set<Promise<void>>()
  /** Sessions that are being taken over. */
  readonly #reserved = new Set<string>()
  readonly #counts = { finishedTurns: 0, rejectedTurns: 0, handedOverTurns: 0, takeovers: 0 }
  #state: WorkerHealth['state'] = 'created'
  #counted: Counted | undefined
  #claimMs: number | undefined
  #stopConsuming: () => Promise<void> = () => Promise.resolve()
  #cancelHeartbeat: () => void = () => {}
  #reported: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined

  /** @internal */
  constructor(executor: JSAgentExecutor, options: WorkerOptions) {
    this.#executor = executor
    this.#options = parseWorkerOptions(executor, options)
    const {
      queue,
      stateStore,
      machine,
      affinityKinds: kinds,
      affinityWaitMs: waitMs,
      clock,
    } = this.#options
    const homes = queue.sessionHomes
    const now = (): number => clock.now()
    this.#affinity = new Affinity({ homes, stateStore, machine, kinds, waitMs, now })
    this.#agents = new Map(this.#options.agents.map((agent) => [agent.name, agent]))
    this.#search = new Search({
      clock,
      searchMs: this.#options.searchMs,
      takeOver: this.#takeOverParts(),
      attempt: (search) => this.#attempt('search for left sessions failed', search),
    })
  }

  /**
   * Begins to run turns, and resumes the sessions that were left.
   *
   * @throws {QueueError} `unavailable`
   */
  async start(): Promise<void> {
    if (this.#state !== 'created') return
    this.#state = 'running'
    await this.#beat()
    // Sessions that a shutdown has left are handed over by their turns, unless they had none.
    await this.#search.start()
    const { queue, concurrency, turnsPerTenant, pollMs, clock, logger } = this.#options
    this.#stopConsuming = queue.consume({
      concurrency,
      turnsPerTenant,
      pollMs,
      clock,
      logger,
      run: (turnId, data) => this.#runTurn(turnId, turnFromJson(data)),
      restrict: (claim) => this.#affinity.restrict(claim),
      onClaim: (ms) => void (this.#claimMs = ms),
    })
  }

  /** How the worker is, from memory: it answers also while the database does not. */
  health(): WorkerHealth {
    const { machine, concurrency, clock } = this.#options
    const sessions = [...this.#sessions.keys()]
    return {
      workerId: this.workerId,
      machine,
      state: this.#state,
      concurrency,
      sessions,
      ...this.#counts,
      ...(this.#counted && countsOf(this.#counted, clock.now())),
      ...(this.#claimMs !== undefined && { claimMs: this.#claimMs }),
    }
  }

  /** The health as metrics, in the text format of Prometheus 0.0.4. */
  metrics(): string {
    return toMetricsText(this.health())
  }

  /**
   * Drains: takes no more turns, lets every run stop where it can be resumed, and leaves them to other
   * workers. Files stay. Ends after `timeoutMs` and `graceMs` together, at the latest.
   */
  stop(options: ShutdownOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(options)
    return this.#stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #stop(options: ShutdownOptions): Promise<void> {
    this.#state = 'draining'
    const searched = this.#search.stop()
    this.#cancelHeartbeat()
    const consumed = this.#stopConsuming()
    await this.#report()
    // Others may take the turns of its sessions now.
    await this.#attempt('workers not woken', () => this.#options.queue.wake())
    await searched
    await this.#executor.shutdown(options)
    await Promise.all([consumed, ...this.#takeovers])
    this.#state = 'stopped'
    const { workerTable, sessionHomes } = this.#options.queue
    await this.#attempt('worker not removed from its table', async () => {
      await workerTable.remove(this.workerId)
      await sessionHomes.removeOld()
    })
  }

  /** Starts the turn, or finds out that it was started; then waits for its run. */
  async #runTurn(turnId: string, turn: Turn): Promise<object> {
    const { sessionId } = turn
    const agent = this.#agents.get(turn.agent)
    if (this.#state !== 'running') return this.#handOver(new PutBack('the worker stops', 0))
    if (agent === undefined) throw new Error(`this worker does not know the agent ${turn.agent}`)
    try {
      await this.#assertFree(sessionId)
      const handle = await this.#startTurn(agent, turnId, turn)
      if (handle === undefined) return { outcome: 'not-needed' }
      const status = await this.#follow(agent, 'turn', handle)
      if (this.#isHandedOver(status)) return this.#handOver()
      this.#counts.finishedTurns++
      return { outcome: status }
    } catch (err) {
      if (!HelixError.isInstance(err) || err.transient) throw err
      this.#counts.rejectedTurns++
      this.#options.logger.error({ err, sessionId, turnId }, 'turn rejected')
      return { outcome: 'rejected', code: err.code }
    }
  }

  /** Another run of the session, such as one that was taken over, ends first: a turn is a run of its own. */
  async #assertFree(sessionId: string): Promise<void> {
    const { stateStore, clock } = this.#options
    const { status, leaseUntil = 0 } = (await stateStore.loadSession(sessionId)) ?? {}
    const heldMs = status === 'running' ? leaseUntil - clock.now() : 0
    if (heldMs <= 0) return
    throw new PutBack('the session is held', Math.ceil(Math.min(heldMs, MAX_HELD_MS)))
  }

  /** The message is stored once: after a crash the turn is resumed. */
  async #startTurn(agent: Agent, turnId: string, turn: Turn): Promise<AgentHandle | undefined> {
    const { sessionId, message, create } = turn
    if (message !== undefined) {
      const sending = {
        messageId: turnId,
        delivery: 'followUp',
        ...(create && { create }),
      } as const
      const { handle } = await this.#executor.send(agent, sessionId, message, sending)
      if (handle !== undefined) return handle
    }
    const recovery = await this.#executor.recover(agent, sessionId)
    return recovery.outcome === 'resumed' ? recovery.handle : undefined
  }

  async #follow(agent: Agent, cause: 'turn' | 'takeover', handle: AgentHandle): Promise<string> {
    const { sessionId } = handle
    this.#sessions.set(sessionId, cause)
    try {
      const begun = this.#attempt('machine of session not recorded', () =>
        this.#affinity.begin(agent, sessionId),
      )
      const { status } = await handle.result()
      await begun
      // Before the next turn of the session can be claimed.
      await this.#attempt('machine of session not recorded', () =>
        this.#affinity.stay(agent, sessionId),
      )
      return status
    } finally {
      this.#sessions.delete(sessionId)
    }
  }

  #isHandedOver(status: string): boolean {
    return status === 'interrupted' && this.#state === 'draining'
  }

  #handOver(cause: Error = new HandedOver()): never {
    this.#counts.handedOverTurns++
    throw cause
  }

  #takeOverParts(): TakeOverParts {
    const { stateStore, logger, clock, concurrency } = this.#options
    return {
      executor: this.#executor,
      stateStore,
      agents: [...this.#agents.values()],
      logger,
      now: () => clock.now(),
      elsewhere: (sessions) => this.#affinity.elsewhere(sessions),
      isOwn: (sessionId) => this.#sessions.has(sessionId),
      reserve: (sessionId) => {
        const taken = this.#takeovers.size + this.#reserved.size
        if (this.#state !== 'running' || taken >= concurrency) return undefined
        this.#reserved.add(sessionId)
        return () => void this.#reserved.delete(sessionId)
      },
      onTaken: (agent, handle) => this.#onTaken(agent, handle),
    }
  }

  #onTaken(agent: Agent, handle: AgentHandle): void {
    const { sessionId } = handle
    this.#counts.takeovers++
    this.#options.logger.info({ sessionId, machine: this.#options.machine }, 'session taken over')
    const done = this.#attempt('session that was taken over failed', async () => {
      const status = await this.#follow(agent, 'takeover', handle)
      // No job of this worker stands for it.
      if (this.#isHandedOver(status)) {
        await this.#options.queue.enqueueResume({ agent: agent.name, sessionId })
      }
    })
    this.#takeovers.add(done)
    void done.finally(() => this.#takeovers.delete(done))
  }

  async #beat(): Promise<void> {
    await this.#report()
    if (this.#state !== 'running') return
    const { clock, heartbeatMs } = this.#options
    const wait = Math.min(heartbeatMs, Math.ceil(this.#executor.leaseMs / 3))
    this.#cancelHeartbeat = clock.setTimer(wait, () => void this.#beat())
  }

  /** One after the other: a slow report of a worker that ran does not hide that it drains. */
  #report(): Promise<void> {
    this.#reported = this.#reported.then(() => this.#reportNow())
    return this.#reported
  }

  async #reportNow(): Promise<void> {
    const { workerId, machine, state, sessions, concurrency, takeovers } = this.health()
    if (state !== 'running' && state !== 'draining') return
    const own = { workerId, machine, pid: process.pid, state, sessions, concurrency, takeovers }
    const row = { ...own, lostAfterMs: this.#executor.leaseMs }
    await this.#attempt('worker not recorded', async () => {
      await this.#options.queue.workerTable.save(row)
      // One that drains does not wait for it.
      if (state === 'running') await this.#count()
    })
  }

  async #count(): Promise<void> {
    const { queue, machine, clock } = this.#options
    if (clock.now() - (this.#counted?.at ?? -Infinity) < COUNT_MS) return
    const counts = [queue.stats(), queue.sessionHomes.countOf(machine)] as const
    const [stats, staying] = await Promise.all(counts)
    this.#counted = { at: clock.now(), stats, staying }
  }

  /** Logs what fails because the database does not answer: each of these is repeated by a timer. */
  async #attempt(problem: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (err) {
      this.#options.logger.error({ err, workerId: this.workerId }, problem)
    }
  }
}
