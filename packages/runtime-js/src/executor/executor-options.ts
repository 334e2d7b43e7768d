import type { Clock, JsonValue, Logger, UserMessage } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type {
  Tracer,
  WorkspaceLifecycleListener,
  WorkspaceMetrics,
} from '@helix-agents/core/runtime'
import type { WorkspaceProviders, WorkspaceRegistryTuning } from '../ports.ts'

export interface JSAgentExecutorOptions {
  /** The kinds of workspaces on offer, by `provider.kind`. Default: none. */
  readonly workspaceProviders?: WorkspaceProviders | readonly WorkspaceProvider[]
  /** Workspaces of one session that may open at the same time. Default: all. */
  readonly workspaceMaxConcurrentOpens?: number
  /** `lazy` (default) opens a workspace with its first use, `eager` all at the start of a run. */
  readonly workspaceOpenStrategy?: 'lazy' | 'eager'
  /** How the registry of each session retries, closes and recovers. */
  readonly workspaceRegistry?: WorkspaceRegistryTuning
  /** Default: no log. A pino logger fits as it is. */
  readonly logger?: Logger
  /** Counts opens, evictions, tool calls and refusals. Default: measures nothing. */
  readonly metrics?: WorkspaceMetrics
  /**
   * Hears of opens, operations and closes of workspaces, such as the fleet that keeps watch over
   * what backs them. It can neither slow nor fail a run. Default: nobody.
   */
  readonly lifecycle?: WorkspaceLifecycleListener
  /**
   * Spans of runs, steps, model calls, tool calls and workspaces. An OpenTelemetry tracer fits as
   * it is. Default: none.
   */
  readonly tracer?: Tracer
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
  /**
   * A run whose process died can be taken over after this time. A living run renews its claim
   * three times as often, and finds out before its next tool when it has lost it. A whole number,
   * at least 1. Default 60 000.
   */
  readonly leaseMs?: number
}

/** What a run starts with: a text, or messages with files, and fields of the custom state. */
export type ExecuteInput =
  | string
  | {
      readonly message: string | UserMessage | readonly UserMessage[]
      /** Replaces these fields of the custom state. */
      readonly state?: Readonly<Record<string, unknown>>
    }

/** How a run ends its stay in the workspaces. */
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

export interface ExecuteOptions extends RunOptions {
  /** Default: a new random id. */
  readonly sessionId?: string
  /** Labels of a new session, for tracing and filtering. */
  readonly userId?: string
  readonly tags?: readonly string[]
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

export interface ResumeOptions extends RunOptions {
  /** Said to the model after the unfinished step is settled. */
  readonly message?: string | UserMessage
}

export interface BranchOptions {
  readonly fromSessionId: string
  /** Default: the latest state of the source. */
  readonly checkpointId?: string
  /** Id of the new session. Default: a new random id. */
  readonly sessionId?: string
  /**
   * `fresh` (default): the branch starts with empty workspaces. `snapshot`: with copies of those
   * of its source, as they are now, where they declare the capability `snapshot`.
   */
  readonly seedWorkspaces?: 'fresh' | 'snapshot'
}

export interface DeleteOptions {
  /** Aborts a run of this executor that is under way, instead of refusing. Default false. */
  readonly abortRun?: boolean
  /**
   * Leaves the workspaces as they are: for those that somebody else takes care of, or that cannot
   * be ended any more. Nobody here knows of them then. Default false: they are ended.
   */
  readonly keepWorkspaces?: boolean
}

export interface ShutdownOptions {
  /** Time for the steps under way; what is not done by then is stopped. Default 6 000. */
  readonly timeoutMs?: number
  /**
   * Time for what was stopped to let go of its workspaces and to store its end. When it is over
   * the shutdown ends anyway: what a run did not store is found by the next one. Default 3 000:
   * with `timeoutMs` less than the 10 s that container platforms give.
   */
  readonly graceMs?: number
}
