import type { RunUsage } from '../budget/run-usage.ts'
import type { StateStoreErrorCode } from '../errors/state-store-error.ts'
import type { Message } from '../llm/messages.ts'
import type { FileVersionsSnapshot } from '../modules/fs/versions/file-versions.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { Page, PageQuery } from './page-query.ts'
import type { RunWrite } from './run-write.ts'
import type {
  BranchIntent,
  CheckpointSnapshots,
  ReleasedRef,
  RestoreOptions,
  SessionHistory,
} from './session-history.ts'
import type { SessionInteractionStore } from './session-requests.ts'
import type {
  Checkpoint,
  JournalEntry,
  JournalResult,
  RunRecord,
  SessionLabels,
  SessionState,
  SessionStatus,
  StoredOutcome,
} from './session-state.ts'

/** The first content of a session. */
export interface NewSession extends SessionLabels {
  readonly sessionId: string
  readonly agentType: string
  readonly customState: JsonValue | undefined
  readonly parentSessionId?: string
  /** A branch starts with the messages of its source. */
  readonly messages?: readonly Message[]
  readonly workspaceRefs?: Readonly<Record<string, WorkspaceRef>>
  readonly now: number
}

/**
 * Gives one run the lease of the session. The lease ends with `endRun`, or when another run acquires
 * it after it expired; a run with an expired lease may still write and renew until then.
 */
export interface RunStart {
  readonly sessionId: string
  /** Used for one run of the session only. */
  readonly runId: string
  /** Time after which a lease that is not renewed expires, in milliseconds. */
  readonly leaseMs: number
  readonly now: number
  /**
   * Keeps runs away while something is done with what the session owns, and is no run itself:
   * status, output and runs stay as they are. `endRun` says how the session stands afterwards;
   * when the process dies before, it stands as before.
   */
  readonly hold?: boolean
  /** Stored with the session. Default: what is stored stays. */
  readonly keepWorkspaces?: boolean
  /**
   * The `version` of the session as it was read: when another process has changed it since, the run
   * does not begin, `conflict`. Default: any.
   */
  readonly version?: number
}

/** What the user said, and the custom state when it came with that. */
export interface MessageAppend extends RunWrite, Pick<StateChange, 'customState' | 'usage'> {
  readonly messages: readonly Message[]
}

/** The model has answered: stored before any tool of the step runs. */
export interface StepStart extends RunWrite, Pick<StateChange, 'usage'> {
  readonly messages: readonly Message[]
  /** Calls of the step that change something. */
  readonly journal: readonly JournalEntry[]
}

/** What tools changed besides the conversation. */
export interface StateChange {
  /** Only when it changed. */
  readonly customState?: { readonly value: JsonValue | undefined }
  /** Only those that changed. */
  readonly fileLedgers?: Readonly<Record<string, FileVersionsSnapshot>>
  /** What the run has used so far; replaces what was stored. A checkpoint does not bring it back. */
  readonly usage?: RunUsage
}

/** A journaled call has a result: stored at once, with what the tools have changed so far. */
export interface ToolCallCompletion extends RunWrite, StateChange {
  readonly toolCallId: string
  readonly result: JournalResult
}

/** A step is done: one transaction stores its messages, its state and its checkpoint. */
export interface StepCommit extends RunWrite, StateChange {
  readonly messages: readonly Message[]
  readonly checkpointId: string
  /** Files of workspaces that the step has changed. Absent when it changed none. */
  readonly workspaceSnapshots?: CheckpointSnapshots
  /** Of these workspaces, steps before this one lose their snapshots. Default: none. */
  readonly evictBefore?: Readonly<Record<string, number>>
  /** The step is the last one of its run, which ends like this. */
  readonly outcome?: StoredOutcome
}

/** The ref of a workspace, stored before it is used. */
export interface WorkspaceRefWrite extends RunWrite {
  readonly workspace: string
  /** `null` removes it. */
  readonly ref: WorkspaceRef | null
  /** The ref that it replaces is recorded as released. Default: false. */
  readonly releasesOld?: boolean
}

/** The end of a run: its outcome, and what could not be closed. */
export interface RunEnd extends RunWrite, StoredOutcome {
  /** Workspaces that could not be closed. Default: none. */
  readonly owed?: readonly string[]
}

/** Which sessions; all of what is given must hold. */
export interface SessionQuery extends PageQuery {
  readonly agentType?: string
  readonly status?: SessionStatus
  /** Sessions whose id begins like this; those of the sub-agents of a session begin with its id. */
  readonly idPrefix?: string
}

/** A session that is stored and cannot be read. */
export interface UnreadableSession {
  readonly sessionId: string
  /** The code of the `StateStoreError` that loading it throws. */
  readonly code: StateStoreErrorCode
}

/** A page of sessions. */
export interface SessionPage extends Page<SessionState> {
  /** Sessions of this page whose stored data is damaged; absent when there are none. */
  readonly unreadable?: readonly UnreadableSession[]
}

/** Which messages of a session to read. */
export interface MessageQuery {
  /** Default 0. */
  readonly offset?: number
  /** Default: all. */
  readonly limit?: number
}

/** A page of the messages of a session, oldest first. */
export interface MessagePage {
  readonly messages: readonly Message[]
  readonly total: number
  readonly hasMore: boolean
}

/**
 * Stores sessions. Every method is atomic. A write of a run that has lost its lease is a `conflict`: a
 * process that was presumed dead cannot disturb its successor.
 *
 * All methods throw `StateStoreError`: `unavailable` and `corrupt` everywhere, `not-found` for
 * an unknown session, `conflict` as said above, `invalid-query` for a limit, an offset or a
 * cursor that cannot be used.
 */
export interface SessionStateStore extends SessionInteractionStore {
  /** @throws {StateStoreError} `conflict` when the session exists. */
  createSession(session: NewSession): Promise<SessionState>
  /** `null` for an unknown session. */
  loadSession(sessionId: string): Promise<SessionState | null>
  loadMessages(sessionId: string, query?: MessageQuery): Promise<MessagePage>
  /** Newest first. A damaged session does not hide the others. */
  listSessions(query?: SessionQuery): Promise<SessionPage>
  /**
   * Removes everything of a session that is in this store: not its stream, nor the sessions of its
   * sub-agents. Removing an unknown one does nothing.
   */
  deleteSession(sessionId: string): Promise<void>

  /**
   * Makes a run the one writer of a session.
   * @throws {AgentAlreadyRunningError} while another run holds it and renews its lease.
   */
  beginRun(start: RunStart): Promise<SessionState>
  /** Renews the lease. @throws {StateStoreError} `conflict` when it was lost. */
  renewRun(write: RunWrite & { readonly leaseMs: number }): Promise<void>
  endRun(end: RunEnd): Promise<SessionState>
  /** Oldest first. */
  listRuns(sessionId: string): Promise<readonly RunRecord[]>

  /** Adds messages outside a step: the user's. */
  appendMessages(append: MessageAppend): Promise<void>
  beginStep(step: StepStart): Promise<void>
  /**
   * Records the result of a journaled call at once, before the step is committed.
   * @throws {StateStoreError} `not-found` when the call is not in the journal.
   */
  completeToolCall(completion: ToolCallCompletion): Promise<void>
  /** Also empties the journal. Its outcome stands until the run ends or the session is resumed. */
  commitStep(commit: StepCommit): Promise<void>
  /** The calls of the step that was under way, in the order of their start; outlives its run. */
  loadJournal(sessionId: string): Promise<readonly JournalEntry[]>

  /** Stores a ref before its workspace is used; `null` removes it. */
  saveWorkspaceRef(write: WorkspaceRefWrite): Promise<void>

  /** Newest first. */
  listCheckpoints(sessionId: string, query?: PageQuery): Promise<Page<Checkpoint>>
  getCheckpoint(sessionId: string, checkpointId: string): Promise<Checkpoint | null>
  /**
   * Takes a session that does not run back to a checkpoint: later messages and steps, the journal
   * and what was known of files are gone. Its status is `interrupted` then. Workspaces get the refs
   * they had; one that was opened later keeps its own, so that its backend is not forgotten. With
   * `files` those workspaces get the given refs. Every ref that is replaced is recorded as released.
   * @throws {StateStoreError} `not-found` for an unknown checkpoint, `conflict` while a run holds
   * the session, or when `runId` does not.
   */
  restoreCheckpoint(
    sessionId: string,
    checkpointId: string,
    now: number,
    options?: RestoreOptions,
  ): Promise<SessionState>

  /** What the session and its checkpoints need of providers. */
  loadHistory(sessionId: string): Promise<SessionHistory>
  /** Records what a session may leave behind; any process may. @returns its id */
  recordReleased(
    sessionId: string,
    released: ReleasedRef | BranchIntent,
    now: number,
  ): Promise<number>
  /** Forgets what is gone. Unknown ids are ignored. */
  forgetReleased(sessionId: string, ids: readonly number[]): Promise<void>
}
