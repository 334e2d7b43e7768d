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
  openDurableObjectStores,
} from '@helix-agents/store-cloudflare'
import { AlarmScheduler, type AlarmSource } from '../alarm/alarm-scheduler.ts'
import { collectionsOf } from '../alarm/collections.ts'
import { DurableExecutor } from '../run/durable-executor.ts'
import { ModelPerRun } from '../run/model-per-run.ts'
import { recoverRuns } from '../run/recover-runs.ts'
import { RunNotes } from '../run/run-notes.ts'
import { RunWatchdog } from '../run/run-watchdog.ts'
import type { AgentServerOptions } from './agent-server-options.ts'

const DEFAULT_HEARTBEAT_MS = 30_000
const DEFAULT_MAX_ATTEMPTS = 5

export interface AgentHostParts<Env> {
  readonly ctx: DurableObjectState
  readonly env: Env
  readonly options: AgentServerOptions<Env>
  readonly sessionId: () => string
  readonly onStarted: (sessionId: string) => void
}

/** What one object has: its stores, its executor, and what wakes it. */
export class AgentHost<Env> {
  readonly stateStore: DOStateStore
  readonly streamManager: DOStreamManager
  readonly watchdog: RunWatchdog
  readonly clock: Clock
  readonly logger: Logger
  readonly #parts: AgentHostParts<Env>
  readonly #notes: RunNotes
  readonly #alarms: AlarmScheduler
  #agents: ReadonlyMap<string, Agent> | undefined
  /** The alarm that is set is left alone: it may be the one that has made this instance. */
  #isOpening = true
  #made:
    | { readonly executor: DurableExecutor; readonly collections: readonly AlarmSource[] }
    | undefined

  constructor(parts: AgentHostParts<Env>) {
    const { ctx, options, onStarted } = parts
    const { clock = systemClock, logger = noopLogger } = options
    this.#parts = parts
    this.clock = clock
    this.logger = logger
    this.stateStore = new DOStateStore(ctx.storage)
    this.streamManager = new DOStreamManager(ctx.storage, options.streams)
    this.#notes = new RunNotes(ctx.storage.kv)
    this.watchdog = new RunWatchdog({
      notes: this.#notes,
      clock,
      heartbeatMs: options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
      waitUntil: (work) => ctx.waitUntil(work),
      onChange: () => (this.#isOpening ? Promise.resolve() : this.#alarms.update()),
      onStarted,
      recover: () => this.#recover(),
    })
    const sources = (): readonly AlarmSource[] => [this.watchdog, ...this.#make().collections]
    this.#alarms = new AlarmScheduler({ storage: ctx.storage, clock, logger, sources })
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

  /** By name. @throws {AgentDefinitionError} `definition-invalid` for two of one name. */
  get agents(): ReadonlyMap<string, Agent> {
    this.#agents ??= this.#findAgents()
    return this.#agents
  }

  /**
   * Prepares a new instance: the tables, and the runs that the one before has left. Nobody else
   * works on the storage of an object, so they are taken over at once, whatever their lease says.
   */
  async open(): Promise<void> {
    const { storage } = this.ctx
    const { releaseClaims } = await openDurableObjectStores(storage, { clock: this.clock })
    await releaseClaims()
    if (this.#notes.all().length > 0) await this.#recover()
    this.#isOpening = false
    const isOwed = this.#notes.all().length > 0
    if (isOwed && (await storage.getAlarm()) === null) await this.#alarms.update()
  }

  /** What the alarm of the object is for. */
  ring(): Promise<void> {
    return this.#alarms.ring()
  }

  #recover(): Promise<void> {
    const { ctx, options } = this.#parts
    return recoverRuns({
      notes: this.#notes,
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
  const { logger, metrics, tracer, clock } = options
  return {
    ...(workspaceMaxConcurrentOpens === undefined ? {} : { workspaceMaxConcurrentOpens }),
    ...(workspaceOpenStrategy === undefined ? {} : { workspaceOpenStrategy }),
    ...(workspaceRegistry === undefined ? {} : { workspaceRegistry }),
    ...(logger === undefined ? {} : { logger }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(tracer === undefined ? {} : { tracer }),
    ...(clock === undefined ? {} : { clock }),
  }
}
