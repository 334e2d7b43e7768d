import type { Clock, JsonValue, Logger, UserMessage } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type {
  MessageDelivery,
  SessionRequest,
  Tracer,
  TurnOptions,
  TurnQueuePort,
  WorkspaceLifecycleListener,
  WorkspaceMetrics,
} from '@helix-agents/core/runtime'
import type { WorkspaceProviders, WorkspaceRegistryTuning } from '../ports.ts'

/** What an executor is made with, besides its stores and its model adapter. */
export interface JSAgentExecutorOptions {
  /** Providers of the kinds of workspaces that agents may declare. Default: none. */
  readonly workspaceProviders?: WorkspaceProviders | readonly WorkspaceProvider[]
  /** Workspaces of one session that may open at the same time. Default: all. */
  readonly workspaceMaxConcurrentOpens?: number
  /** `lazy` opens a workspace at its first use, `eager` all at the start of a run. Default: `lazy`. */
  readonly workspaceOpenStrategy?: 'lazy' | 'eager'
  /** How the registry of each session retries, closes and recovers. */
  readonly workspaceRegistry?: WorkspaceRegistryTuning
  /** Receives the log; a pino logger fits as it is. Default: no log. */
  readonly logger?: Logger
  /** Counts opens, evictions, tool calls and rejections. Default: measures nothing. */
  readonly metrics?: WorkspaceMetrics
  /**
   * Receives workspace lifecycle events: opens, operations and closes. A fleet uses it. Its errors are
   * logged, never thrown, and it never delays a run. Default: none.
   */
  readonly lifecycle?: WorkspaceLifecycleListener
  /**
   * Spans of runs, steps, model calls, tool calls and workspaces. An OpenTelemetry tracer fits as
   * it is. Default: none.
   */
  readonly tracer?: Tracer
  /**
   * Is told of every new request to a person, once that is stored: to notify them. It never delays a
   * run; its errors are logged. After a crash in between it is not told again. Default: none.
   */
  readonly onRequest?: (request: SessionRequest) => void | Promise<void>
  /**
   * Stores the turns of `execute` with `mode: 'enqueue'` for workers, such as a queue of
   * `@helix-agents/worker-postgres`. Default: none, and such a call throws.
   */
  readonly turnQueue?: TurnQueuePort
  /** Source of time; tests inject one. Default: the system clock. */
  readonly clock?: Clock
  /**
   * Duration of a run's lease on its session, in milliseconds. The run renews it three times as
   * often; after a crash another process can resume the session once the lease has expired. A whole
   * number, at least 1. Default: 60 000.
   */
  readonly leaseMs?: number
}

/** The input of a run: a text, or messages with files, and fields of the custom state. */
export type ExecuteInput =
  | string
  | {
      readonly message: string | UserMessage | readonly UserMessage[]
      /** Replaces these fields of the custom state. */
      readonly state?: Readonly<Record<string, unknown>>
    }

/** Options of every run. */
interface RunOptions {
  /**
   * Whether the workspaces outlive this run. `true` detaches them at its end, so that the next turn
   * of the session finds its files, in another process too. `false` closes them when the run is
   * completed or aborted; what that does is the policy of each provider, and when files are gone, the
   * next turn's first tool result says so. The session stores the value: a call without one uses the
   * last that was given, also after a crash. Default: `true`. Sub-agents always end theirs.
   */
  readonly keepWorkspaces?: boolean
  /** Aborts the run. */
  readonly signal?: AbortSignal
}

/** Options of `execute`. */
export interface ExecuteOptions extends RunOptions {
  /** Where the turn runs: `run` in this process, see {@link EnqueueOptions} for `enqueue`. Default: `run`. */
  readonly mode?: 'run'
  /** The session to run in; it is created when there is none. Default: a new random id. */
  readonly sessionId?: string
  /**
   * What happens when a run holds the session, or it waits for a person: `reject` throws, the others
   * send the message as `send` does. Default: `reject`.
   */
  readonly ifRunning?: 'reject' | MessageDelivery
  /** User of a new session, for tracing and filtering. Default: none. */
  readonly userId?: string
  /** Tags of a new session, for tracing and filtering. Default: none. */
  readonly tags?: readonly string[]
  /** Further labels of a new session. Default: none. */
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

/** Options of `execute` for a turn that a worker runs, in another process as well. */
export interface EnqueueOptions extends Omit<TurnOptions, 'state'> {
  readonly mode: 'enqueue'
}

/** What a new session is made with. */
export interface NewSessionOptions extends Pick<ExecuteOptions, 'userId' | 'tags' | 'metadata'> {
  /** Fields of the custom state. Default: those of the agent. */
  readonly state?: Readonly<Record<string, unknown>>
}

/** Options of `resume`. */
export interface ResumeOptions extends RunOptions {
  /** A message that is added after the unfinished step is settled. Default: none. */
  readonly message?: string | UserMessage
}

/** Options of `branch`. */
export interface BranchOptions {
  /** The session to branch from. */
  readonly fromSessionId: string
  /** Default: the latest state of the source. */
  readonly checkpointId?: string
  /** Id of the new session. Default: a new random id. */
  readonly sessionId?: string
  /**
   * `fresh` gives the branch empty workspaces; `snapshot` copies those of its source, as they are now,
   * where they declare the capability `snapshot`. Default: `fresh`.
   */
  readonly seedWorkspaces?: 'fresh' | 'snapshot'
  /**
   * `checkpoint` gives the branch the files of its checkpoint, by default the newest, in every
   * workspace with a history. Not together with `seedWorkspaces: 'snapshot'`. Default: none.
   */
  readonly files?: 'checkpoint'
}

/** Options of `restoreCheckpoint`. */
export interface RestoreCheckpointOptions {
  /**
   * Workspaces whose files go back too: `true` for all with a history, or their names. Default: files
   * stay as they are.
   */
  readonly files?: boolean | readonly string[]
}

/** Options of `releaseWorkspaces`. */
export interface ReleaseOptions {
  /** Age of what an unfinished branch has made before it counts as left, in milliseconds. Default: 600 000. */
  readonly graceMs?: number
}

/** Options of `deleteSession`. */
export interface DeleteOptions {
  /** Aborts a run of this executor that is under way, instead of throwing. Default: `false`. */
  readonly abortRun?: boolean
  /**
   * Keeps workspaces that are managed elsewhere or unreachable; their refs are forgotten. Default:
   * `false`, which ends them.
   */
  readonly keepWorkspaces?: boolean
}

/** Options of `shutdown`. */
export interface ShutdownOptions {
  /** Time for the steps under way, in milliseconds; runs that need longer are stopped. Default: 6 000. */
  readonly timeoutMs?: number
  /**
   * Grace period for stopped runs to detach and persist, in milliseconds. After it the shutdown ends
   * anyway; the next run recovers what was not stored. Default: 3 000; with `timeoutMs` less than the
   * 10 s that container platforms give.
   */
  readonly graceMs?: number
}
