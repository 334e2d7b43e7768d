import {
  type Agent,
  AgentDefinitionError,
  type Clock,
  type Logger,
  noopLogger,
  systemClock,
} from '@helix-agents/core'
import {
  DOStateStore,
  DOStreamManager,
  type DurableObjectStores,
  eraseDurableObject,
  hasSqlite,
  openDurableObjectStores,
  toStorageError,
} from '@helix-agents/store-cloudflare'
import { AlarmRetries } from '../alarm/alarm-retries.ts'
import { AlarmScheduler, type AlarmSource } from '../alarm/alarm-scheduler.ts'
import { type Collection, collectionsOf } from '../alarm/collections.ts'
import { RequestExpiry } from '../alarm/request-expiry.ts'
import { branchFilesSource } from '../http/branch-files.ts'
import { RequestError, withoutSqlite } from '../http/http-error.ts'
import { DurableExecutor } from '../run/durable-executor.ts'
import { endCutOffRun } from '../run/end-cut-off-run.ts'
import { ModelPerRun } from '../run/model-per-run.ts'
import { recoverRuns } from '../run/recover-runs.ts'
import { RunRecords } from '../run/run-records.ts'
import { RunWatchdog } from '../run/run-watchdog.ts'
import { TakeOver } from '../run/take-over.ts'
import type { AgentServerOptions } from './agent-server-options.ts'
import { createPlaces, type HostPlaces } from './host-places.ts'

const DEFAULT_HEARTBEAT_MS = 30_000
const DEFAULT_MAX_ATTEMPTS = 5

export interface AgentHostParts<Env> {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly options: AgentServerOptions<Env>
  readonly sessionId: () => string
  /** A run has begun, or the instance has found its session: WebSockets may have to be served. */
  readonly onStarted: () => void
  /** Nothing is stored any more. */
  readonly onErased: () => void
}

/** What one object has: its stores, its executor, and what wakes it. */
export class AgentHost<Env> {
  readonly stateStore: DOStateStore
  readonly streamManager: DOStreamManager
  readonly places: HostPlaces
  readonly watchdog: RunWatchdog
  readonly clock: Clock
  readonly logger: Logger
  readonly #parts: AgentHostParts<Env>
  readonly #records: RunRecords
  readonly #alarms: AlarmScheduler
  readonly #retries: AlarmRetries
  readonly #takeOver: TakeOver
  #opening: Promise<void> | undefined
  #stores: DurableObjectStores | undefined
  #isErasing = false
  #erasures = 0
  #agents: ReadonlyMap<string, Agent> | undefined
  /** The alarm that is set is left alone: it may be the one that has made this instance. */
  #isOpening = true
  #made:
    | { readonly executor: DurableExecutor; readonly collections: readonly Collection[] }
    | undefined

  constructor(parts: AgentHostParts<Env>) {
    const { ctx, options, onStarted } = parts
    const { clock = systemClock, logger = noopLogger } = options
    this.#parts = parts
    this.clock = clock
    this.logger = logger
    this.stateStore = new DOStateStore(ctx.storage)
    this.streamManager = new DOStreamManager(ctx.storage, options.streams)
    this.places = createPlaces(options)
    this.#records = new RunRecords(ctx.storage.kv)
    this.watchdog = new RunWatchdog({
      records: this.#records,
      clock,
      heartbeatMs: options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
      waitUntil: (work) => ctx.waitUntil(work),
      ringBy: (at) => this.#ringBy(at),
      onChange: () => this.#updateAlarm(),
      onStarted,
      recover: () => this.#recover(),
      isLeft: (sessionId) => this.#isLeft(sessionId),
      assertMayStart: () => this.assertMayChange(),
    })
    this.#retries = new AlarmRetries(ctx.storage.kv, logger)
    const expiry = new RequestExpiry({
      stateStore: this.stateStore,
      resume: (agent, sessionId) => this.executor.resume(agent, sessionId),
      agentOf: (name) => this.agents.get(name),
    })
    const own = [this.watchdog, expiry, branchFilesSource(this)]
    const sources = (): readonly AlarmSource[] => [...own, ...this.collections]
    const { storage } = ctx
    const retries = this.#retries
    const isEmpty = (): Promise<boolean> => this.isEmpty()
    this.#alarms = new AlarmScheduler({ storage, retries, clock, logger, sources, isEmpty })
    this.#takeOver = new TakeOver({
      records: this.#records,
      watchdog: this.watchdog,
      releaseLeases: async () => this.#stores?.releaseLeases(),
      recover: () => this.#recover(),
      getAlarm: () => storage.getAlarm(),
      updateAlarm: () => this.#alarms.update(),
      clock,
      logger,
    })
  }

  get options(): AgentServerOptions<Env> {
    return this.#parts.options
  }

  get env(): Env {
    return this.#parts.env
  }

  get ctx(): DurableObjectState {
    return this.#parts.ctx
  }

  get sessionId(): string {
    return this.#parts.sessionId()
  }

  /** @throws {WorkspaceFailedError} `config-invalid` for providers that cannot be told apart. */
  get executor(): DurableExecutor {
    return this.#make().executor
  }

  /** What the providers remove in the background. */
  get collections(): readonly Collection[] {
    return this.#make().collections
  }

  /** How often this instance has removed all that the object stores. */
  get erasures(): number {
    return this.#erasures
  }

  /** @throws {RequestError} 409 while the session is being deleted. */
  assertNotErasing(): void {
    if (!this.#isErasing) return
    throw new RequestError(409, 'being-deleted', 'the session is being deleted')
  }

  /**
   * @throws {RequestError} 409 while the session is being deleted.
   * @throws {StateStoreError} `unavailable` while a full object keeps runs of earlier instances.
   */
  assertMayChange(): void {
    this.assertNotErasing()
    this.#takeOver.assertReleased()
  }

  /** Ends the leases of dead runs. @throws {StateStoreError} `unavailable` */
  releaseLeases(): Promise<void> {
    return this.#takeOver.release()
  }

  /** By name. @throws {AgentDefinitionError} `definition-invalid` for two of one name. */
  get agents(): ReadonlyMap<string, Agent> {
    this.#agents ??= this.#findAgents()
    return this.#agents
  }

  /**
   * Waits until the instance can work. What has failed is tried again: it may have been the storage
   * for a moment.
   * @throws {StateStoreError} `schema-version`, `unavailable`
   * @throws {RequestError} 500 for a class without SQLite.
   */
  async ready(): Promise<void> {
    const opening = (this.#opening ??= this.#open())
    try {
      await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
    await this.#takeOver.again()
  }

  /** Whether nothing was ever stored of the session. */
  async isEmpty(): Promise<boolean> {
    return (await this.#stores?.isEmpty()) ?? true
  }

  /** Whether the session was not made: what is stored, if anything, an import of it has left. */
  async isUnmade(): Promise<boolean> {
    if (await this.isEmpty()) return true
    const { items, unreadable = [] } = await this.stateStore.listSessions()
    const isOfImport = items.every(({ parentSessionId }) => parentSessionId === this.sessionId)
    return isOfImport && unreadable.length === 0
  }

  /** What the alarm of the object is for. */
  ring(): Promise<void> {
    return this.#alarms.ring()
  }

  /**
   * The alarm could not be answered: it rings again later. Rejects when it cannot be set: the
   * platform tries again then, a few times, and after that the next request does.
   */
  async ringLater(): Promise<void> {
    this.#takeOver.markPending()
    await this.ctx.storage.setAlarm(this.#retries.noteFailure('object', this.clock.now()))
  }

  /** The alarm was answered, or would be now. */
  noteRung(): void {
    this.#retries.noteSuccess('object')
  }

  /** Pauses a run that was cut off and waits for its recovery. */
  async pauseCutOffRun(): Promise<void> {
    const session = await this.stateStore.loadSession(this.sessionId)
    if (session?.status !== 'running') return
    await endCutOffRun(this, session, { status: 'interrupted' })
    await this.forgetCutOffRun()
  }

  /** The session has changed since: its run need not be recovered. */
  async forgetCutOffRun(): Promise<void> {
    const { sessionId } = this
    if (this.watchdog.isRunning(sessionId) || this.#records.get(sessionId) === undefined) return
    this.#records.remove(sessionId)
    await this.#updateAlarm()
  }

  /**
   * Removes all that the object stores, once `prepare` has ended what it stands for.
   * @throws {RequestError} 409 while that is under way.
   */
  async erase(prepare: () => Promise<void>): Promise<void> {
    this.assertNotErasing()
    this.#isErasing = true
    try {
      await prepare()
      // Its readers end.
      await this.streamManager.deleteStream(this.sessionId)
      this.#erasures++
      await eraseDurableObject(this.ctx.storage)
      this.#retries.forget()
      // Providers may remember what was stored.
      this.#made = undefined
      this.#parts.onErased()
    } finally {
      this.#isErasing = false
    }
  }

  /**
   * Prepares a new instance: the runs that the one before has left. Nobody else works on the
   * storage of an object, so they are taken over at once, whatever their lease says.
   */
  async #open(): Promise<void> {
    const { storage } = this.ctx
    if (!hasSqlite(storage)) throw withoutSqlite()
    this.#stores = await openDurableObjectStores(storage)
    await this.#takeOver.begin()
    this.#isOpening = false
    this.#parts.onStarted()
  }

  /** @throws {StateStoreError} `unavailable` when the storage does not take it. */
  async #ringBy(at: number): Promise<void> {
    if (this.#isOpening) return
    try {
      await this.#alarms.ringBy(at)
    } catch (error) {
      throw toStorageError(error, this.sessionId)
    }
  }

  /** Never rejects: what cannot be set now is set with the next request. */
  async #updateAlarm(): Promise<void> {
    if (this.#isOpening) return
    try {
      await this.#alarms.update()
    } catch (err) {
      this.logger.error({ err }, 'alarm could not be set')
      this.#takeOver.markPending()
    }
  }

  async #isLeft(sessionId: string): Promise<boolean> {
    return (await this.stateStore.loadSession(sessionId))?.status === 'running'
  }

  #recover(): Promise<void> {
    const { ctx, options } = this.#parts
    return recoverRuns({
      records: this.#records,
      watchdog: this.watchdog,
      executor: () => this.executor,
      stateStore: this.stateStore,
      streamManager: this.streamManager,
      agentOf: (name) => this.agents.get(name),
      sync: () => ctx.storage.sync(),
      clock: this.clock,
      logger: this.logger,
      maxAttempts: options.maxResumeAttempts ?? DEFAULT_MAX_ATTEMPTS,
    })
  }

  /** Not before it is needed: what the application provides may fail, and then says why. */
  #make() {
    if (this.#made !== undefined) return this.#made
    const { ctx, env, options } = this.#parts
    const session = { sessionId: this.sessionId }
    const workspaceProviders = options.workspaceProviders?.(env, ctx, session) ?? []
    const executor = new DurableExecutor({
      stateStore: this.stateStore,
      streamManager: this.streamManager,
      llmAdapter: new ModelPerRun(() => options.llmAdapter(env, ctx)),
      options: { ...executorOptionsOf(options), workspaceProviders },
      watchdog: this.watchdog,
    })
    this.#made = { executor, collections: collectionsOf(workspaceProviders.values()) }
    return this.#made
  }

  #findAgents(): ReadonlyMap<string, Agent> {
    const { ctx, env, options } = this.#parts
    const agents = typeof options.agents === 'function' ? options.agents(env, ctx) : options.agents
    const byName = new Map(agents.map((agent) => [agent.name, agent]))
    if (byName.size === agents.length) return byName
    throw new AgentDefinitionError('the list of agents', ['two of them have one name'])
  }
}

function executorOptionsOf<Env>(options: AgentServerOptions<Env>) {
  const { workspaceMaxConcurrentOpens, workspaceOpenStrategy, workspaceRegistry } = options
  const { clock, lifecycle, logger, metrics, tracer } = options
  return {
    ...(lifecycle !== undefined && { lifecycle }),
    ...(workspaceMaxConcurrentOpens !== undefined && { workspaceMaxConcurrentOpens }),
    ...(workspaceOpenStrategy !== undefined && { workspaceOpenStrategy }),
    ...(workspaceRegistry !== undefined && { workspaceRegistry }),
    ...(logger !== undefined && { logger }),
    ...(metrics !== undefined && { metrics }),
    ...(tracer !== undefined && { tracer }),
    ...(clock !== undefined && { clock }),
  }
}
