import type { RunUsage } from '../budget/run-usage.ts'
import type { ToolResultMessage } from '../llm/messages.ts'
import type { FileVersionsSnapshot } from '../modules/fs/versions/file-versions.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { CheckpointSnapshots } from './session-history.ts'

/**
 * `idle`: no run yet. `waiting`: a call waits for the answer of a person. `interrupted`: paused, can be
 * resumed. `completed`, `failed` and `aborted` tell how the last run ended; a completed session takes a
 * further message.
 */
export type SessionStatus =
  | 'idle'
  | 'running'
  | 'waiting'
  | 'interrupted'
  | 'completed'
  | 'failed'
  | 'aborted'

/** An error as it is stored and shown. */
export interface StoredError {
  readonly code: string
  readonly message: string
}

/** How a run ended, or is about to. */
export interface StoredOutcome {
  readonly status: Exclude<SessionStatus, 'idle' | 'running'>
  readonly output?: JsonValue
  /** Why it failed; `shutdown` when the end of its process interrupted it. */
  readonly error?: StoredError
}

/** Fields for tracing and filtering, given by the caller. */
export interface SessionLabels {
  readonly userId?: string
  readonly tags?: readonly string[]
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

/** The head of a session: small, and replaced as a whole. Messages are stored apart. */
export interface SessionState extends SessionLabels {
  readonly sessionId: string
  /** Name of the agent. */
  readonly agentType: string
  readonly status: SessionStatus
  /** Rises by one with every change. */
  readonly version: number
  /** Finished steps, over all runs. */
  readonly stepCount: number
  readonly messageCount: number
  readonly customState: JsonValue | undefined
  readonly workspaceRefs: Readonly<Record<string, WorkspaceRef>>
  readonly fileLedgers: Readonly<Record<string, FileVersionsSnapshot>>
  /** The current or last run. */
  readonly runId?: string
  /** When the lease of the current run ends, unless it is renewed; absent without a run. */
  readonly leaseUntil?: number
  /** Workspaces that the last run could not close: what backs them may still be there. */
  readonly owed?: readonly string[]
  /**
   * Whether its workspaces outlive its runs: the last value that a run was given. Absent when none
   * was given one; they do then, unless the session is one of a sub-agent.
   */
  readonly keepWorkspaces?: boolean
  /** What the current or last run has used; absent before the first answer of the model. */
  readonly usage?: RunUsage
  /** The session whose sub-agent this one is. */
  readonly parentSessionId?: string
  readonly output?: JsonValue
  readonly error?: StoredError
  /**
   * What the last step decided, as long as its run has not ended: a process that died in between
   * left it, and the next run ends with it instead of asking the model again.
   */
  readonly outcome?: StoredOutcome
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** One `execute` or `resume`. */
export interface RunRecord {
  readonly runId: string
  readonly sessionId: string
  readonly status: Exclude<SessionStatus, 'idle'>
  /** Counts the runs of a session, from 1. */
  readonly turn: number
  readonly stepCount: number
  readonly startedAt: number
  readonly endedAt?: number
}

/** The state after a step. Restoring it takes the session back there. */
export interface Checkpoint {
  /** `cpv1-{sessionId}-s{stepCount}-t{ms}-{6 hex}` */
  readonly id: string
  readonly sessionId: string
  readonly stepCount: number
  /** Messages are stored once: the first so many belong to the checkpoint. */
  readonly messageCount: number
  readonly customState: JsonValue | undefined
  readonly workspaceRefs: Readonly<Record<string, WorkspaceRef>>
  /** The files of workspaces with a history; absent when there are none. */
  readonly workspaceSnapshots?: CheckpointSnapshots
  readonly status: SessionStatus
  readonly createdAt: number
}

/** A tool call that changes something, written down before it starts. */
export interface JournalEntry {
  readonly toolCallId: string
  readonly toolName: string
  readonly arguments: unknown
  readonly startedAt: number
  /** A person is asked before the call starts: without a request it was not started. */
  readonly asks?: true
  /** Absent while the call runs; after a crash that means: outcome unknown. */
  readonly result?: JournalResult
}

/** The result of a tool call, as the journal stores it. */
export interface JournalResult {
  readonly message: ToolResultMessage
  /** The call completes the run with this output. */
  readonly finish?: { readonly output: JsonValue | undefined }
  readonly endedAt: number
}
