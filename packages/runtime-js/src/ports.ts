// What the rooms of this package know of each other: every other file may import from here.
import type {
  Agent,
  LLMAdapter,
  Clock,
  Logger,
  Message,
  ToolCall,
  ToolResultMessage,
  UserMessage,
  WorkspaceAccess,
} from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type {
  AgentPermissions,
  CloseReport,
  FileVersionsSnapshot,
  RateLimitedLogger,
  RegistryDeps,
  RegistryOptions,
  SessionLabels,
  SessionRequest,
  SessionStateStore,
  StateChange,
  StepCommit,
  StreamManager,
  Tracer,
  TurnQueuePort,
  WorkspaceLifecycleListener,
  WorkspaceMetrics,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import type { RunOutcome } from './agent-result.ts'
import type { ToolSet, ToolSets } from './call/tool-sets.ts'
import type { Lease } from './lease/lease.ts'
import type { ActiveRun, ActiveRuns } from './run/active-runs.ts'
import type { Meter } from './run/meter.ts'
import type { RunControl } from './run/run-control.ts'
import type { StateTracker } from './run/state-tracker.ts'
import type { ChunkForward, ChunkWriter } from './stream/chunk-writer.ts'

/** The kinds of workspaces an executor offers: `provider.kind` → provider. */
export type WorkspaceProviders = ReadonlyMap<string, WorkspaceProvider>

/** How the registry of each session retries, closes and recovers. */
export type WorkspaceRegistryTuning = Omit<RegistryOptions, 'maxConcurrentOpens'> &
  Pick<RegistryDeps, 'onOwedDestroy'>

/** What all runs of one executor share. */
export interface RunServices {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
  readonly providers: WorkspaceProviders
  readonly registryTuning: WorkspaceRegistryTuning & { readonly maxConcurrentOpens?: number }
  readonly openEagerly: boolean
  readonly logger: Logger
  /** For lines that a model can cause any number of times. */
  readonly rateLimitedLogger: RateLimitedLogger
  readonly metrics: WorkspaceMetrics
  readonly lifecycle: WorkspaceLifecycleListener | undefined
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  readonly leaseMs: number
  readonly active: ActiveRuns
  readonly toolSets: ToolSets
  /** Where turns wait for a worker. */
  readonly turnQueue: TurnQueuePort | undefined
  /** Is told of every new request. */
  readonly onRequest: ((request: SessionRequest) => unknown) | undefined
  /** Starts a run; sub-agents use it. */
  readonly launch: (request: LaunchRequest) => Promise<ActiveRun>
}

/** A run to be started. */
export interface LaunchRequest {
  readonly agent: Agent
  readonly sessionId: string
  readonly control: RunControl
  readonly toolSet: ToolSet
  /** `execute` creates the session when needed; `resume` continues the step under way. */
  readonly mode: 'execute' | 'resume'
  readonly messages: readonly UserMessage[]
  /** Begins the turn with the queued messages of the session. */
  readonly isFromInbox?: boolean
  /** Replaces these fields of the custom state. */
  readonly state?: Readonly<Record<string, unknown>>
  readonly labels?: SessionLabels
  /** Default: the value that the session stores. */
  readonly keepWorkspaces?: boolean | undefined
  readonly parent?: ParentRun
}

/** What a sub-agent gets from its parent. */
export interface ParentRun {
  readonly sessionId: string
  readonly requests: RequestPlace
  readonly lease: Lease
  readonly forward: ChunkForward
  readonly meter: Meter
  /** Only for a sub-agent that shares them. */
  readonly workspaces?: WorkspaceAccess
}

/** The workspaces of one run. */
export interface RunWorkspaces {
  /** Absent when the session opens none of its own. */
  readonly registry: WorkspaceRegistry | undefined
  /** What tools see. */
  readonly access: WorkspaceAccess
  consumeLedgerChanges(): Readonly<Record<string, FileVersionsSnapshot>> | undefined
  /** `end`: the session is over. `detach`: it may continue later. Never rejects. */
  close(mode: 'end' | 'detach'): Promise<CloseReport>
}

/** What a step adds to the history of its session. */
export type StepFiles = Pick<StepCommit, 'workspaceSnapshots' | 'evictBefore'>

/** Keeps the files of workspaces with the steps of one run. */
export interface RunHistory {
  /** Whether files may differ from those of the newest checkpoint before this run has used them. */
  readonly changedBefore: NonNullable<RegistryDeps['changedBefore']>
  /** Makes a backend with the files of the newest snapshot, when the one that it was of is gone. */
  readonly restoreLost: NonNullable<RegistryDeps['restoreLost']>
  /** Takes the snapshots that are due. Never rejects: a step is stored without its files then. */
  take(registry: WorkspaceRegistry, stepCount: number): Promise<StepFiles>
  /** The step is stored: what it has evicted is freed. */
  committed(
    files: StepFiles,
    at: { readonly stepCount: number; readonly now: number },
  ): Promise<void>
}

/** What the parts of one run share. */
export interface RunContext {
  readonly services: RunServices
  readonly agent: Agent
  readonly sessionId: string
  readonly runId: string
  readonly lease: Lease
  readonly control: RunControl
  readonly toolSet: ToolSet
  readonly chunks: ChunkWriter
  readonly state: StateTracker
  readonly meter: Meter
  readonly workspaces: RunWorkspaces
  /** Absent when the agent declares none. */
  readonly history: RunHistory | undefined
  /** The conversation: grows, and is never copied. */
  readonly messages: Message[]
  readonly requests: RunRequests
  readonly inbox: RunInbox
  /** Sub-agents whose workspace names a warning was logged for. */
  readonly warnedSubAgents: Set<string>
}

/** What a run knows of the messages that were sent to it. */
export interface RunInbox {
  /** There may be some to deliver before the next model call. */
  mayHaveMessages: boolean
}

/** What a run knows of its requests to people. */
export interface RunRequests extends RequestPlace {
  /** Live requests of the step under way, by the id of their call. */
  readonly byCall: Map<string, SessionRequest>
}

/** Where the requests of a run are listed. */
export interface RequestPlace {
  /** The session whose sub-agent asks, or the asking session itself. */
  readonly rootSessionId: string
  /** Names of the agents from the root to the one that asks. */
  readonly agentPath: readonly string[]
  /** Permission rules of the agent; of a sub-agent that shares workspaces also those above it. */
  readonly rules: readonly AgentPermissions[]
  /** Requests with an answer whose calls wait for others; of the root and all its sub-agents. */
  readonly blocked: Set<string>
}

/** One run under way. */
export interface Run extends RunContext {
  /** Stores what the steps produce. */
  readonly recorder: StepRecorder
}

/** Stores steps and the results of their calls. */
export interface StepRecorder {
  /** Finished steps of the session. */
  readonly stepCount: number
  /** Finished steps of this run. */
  readonly runSteps: number
  /**
   * Stores the result of a call, with what it has changed, while its step continues. One at a
   * time: a later one holds more of the state.
   */
  recordCall(call: ToolCall, result: CallResult): Promise<void>
  /**
   * Ends a step: one write stores its messages, its state, its checkpoint, and how the run ends
   * when the step decides that. The stream is flushed first, so that its readers miss nothing of
   * what is stored when the process dies in between.
   */
  commit(messages: readonly Message[], outcome?: RunOutcome): Promise<void>
  /** What the run has used, when that is not stored yet. */
  unstoredUsage(): Pick<StateChange, 'usage'>
}

/** The end of one tool call. */
export interface CallResult {
  readonly message: ToolResultMessage
  /** Set by a tool that completes the run. */
  readonly finish?: { readonly output: unknown }
}

/**
 * The end of one call. `waiting`: for a person, or behind a call that waits. `interrupted`: its
 * sub-agent was. Both continue when the run is resumed.
 */
export type CallEnd = CallResult | 'waiting' | 'interrupted'

/** One call and its place in the step. */
export interface PlacedCall {
  readonly call: ToolCall
  readonly index: number
  /** The step was under way when an earlier run ended. */
  readonly isRecovered: boolean
  /** The journal has it: its result is stored at once. */
  readonly isJournaled: boolean
  /** The journal says that a person is asked before it starts, also when a later release does not ask. */
  readonly asks: boolean
  /** When a recovered call was started, according to the journal. */
  readonly startedAt?: number
}
