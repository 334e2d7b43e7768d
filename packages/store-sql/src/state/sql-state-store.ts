import {
  type BranchIntent,
  type Checkpoint,
  type JournalEntry,
  type MessageAppend,
  type MessagePage,
  type MessageQuery,
  type NewSession,
  type Page,
  type PageQuery,
  type ReleasedRef,
  type RestoreOptions,
  type RunEnd,
  type RunRecord,
  type RunStart,
  type RunWrite,
  type SessionHistory,
  type SessionPage,
  type SessionQuery,
  type SessionState,
  type SessionStateStore,
  type StepCommit,
  type StepStart,
  type ToolCallCompletion,
  type WorkspaceRefWrite,
  assertStorable,
  isStorableId,
} from '@helix-agents/core/runtime'
import { getCheckpoint, listCheckpoints, restoreCheckpoint } from './checkpoints.ts'
import { forgetReleased, loadHistory, recordReleased } from './history.ts'
import { SqlInteractionStore } from './interaction/sql-interaction-store.ts'
import { beginRun, endRun, listRuns, renewRun } from './runs.ts'
import { listSessions } from './list-sessions.ts'
import { loadHead } from './session-head.ts'
import { loadOwner, type SessionOwner } from './session-owner.ts'
import { createSession, deleteSession, loadMessages, toSessionToCreate } from './sessions.ts'
import {
  loadJournal,
  prepareAppend,
  prepareBeginStep,
  prepareCommitStep,
  prepareCompleteToolCall,
  saveWorkspaceRef,
} from './steps.ts'

/**
 * Keeps sessions in a SQLite database that `migrate` has prepared. Several stores, also of several
 * processes, may work on one database. Every method is one transaction of few statements, none of
 * which reads or writes more than its step.
 */
export class SqlStateStore extends SqlInteractionStore implements SessionStateStore {
  /** @throws {StateStoreError} `conflict` when the session exists. */
  async createSession(session: NewSession): Promise<SessionState> {
    assertStorable({ ...session, customState: { value: session.customState } })
    const row = toSessionToCreate(session)
    return this.write(session.sessionId, (sql) => createSession(sql, row))
  }

  /** `null` for an unknown session. @throws {StateStoreError} `corrupt`, `unavailable` */
  async loadSession(sessionId: string): Promise<SessionState | null> {
    if (!isStorableId(sessionId)) return null
    return this.read(sessionId, (sql) => loadHead(sql, sessionId) ?? null)
  }

  /**
   * Whose a session is, also of one that cannot be read as a whole; `null` for an unknown one.
   * @throws {StateStoreError} `corrupt` when just that is damaged, `unavailable`
   */
  async loadOwner(sessionId: string): Promise<SessionOwner | null> {
    if (!isStorableId(sessionId)) return null
    return this.read(sessionId, (sql) => loadOwner(sql, sessionId) ?? null)
  }

  /** @throws {StateStoreError} `not-found`, `invalid-query` */
  async loadMessages(sessionId: string, query: MessageQuery = {}): Promise<MessagePage> {
    return this.read(sessionId, (sql) => loadMessages(sql, sessionId, query))
  }

  /** Newest first. @throws {StateStoreError} `invalid-query` */
  async listSessions(query: SessionQuery = {}): Promise<SessionPage> {
    return this.read('', (sql) => listSessions(sql, query))
  }

  /** Removes everything of a session. Removing an unknown one does nothing. */
  async deleteSession(sessionId: string): Promise<void> {
    if (!isStorableId(sessionId)) return
    await this.write(sessionId, (sql) => deleteSession(sql, sessionId))
  }

  /**
   * Makes a run the one writer of a session.
   * @throws {AgentAlreadyRunningError} while another run holds it and renews its lease.
   * @throws {StateStoreError} `not-found`; `conflict` when the session had a run of this id.
   */
  async beginRun(start: RunStart): Promise<SessionState> {
    assertStorable(start)
    return this.write(start.sessionId, (sql) => beginRun(sql, start))
  }

  /** Renews the lease of a run. @throws {StateStoreError} `not-found`, `conflict` */
  async renewRun(write: RunWrite & { readonly leaseMs: number }): Promise<void> {
    return this.write(write.sessionId, (sql) => renewRun(sql, write, write.leaseMs))
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async endRun(end: RunEnd): Promise<SessionState> {
    assertStorable(end)
    return this.write(end.sessionId, (sql) => endRun(sql, end))
  }

  /** Oldest first. @throws {StateStoreError} `not-found` */
  async listRuns(sessionId: string): Promise<readonly RunRecord[]> {
    return this.read(sessionId, (sql) => listRuns(sql, sessionId))
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async appendMessages(append: MessageAppend): Promise<void> {
    assertStorable(append)
    return this.write(append.sessionId, prepareAppend(append))
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async beginStep(step: StepStart): Promise<void> {
    assertStorable(step)
    return this.write(step.sessionId, prepareBeginStep(step))
  }

  /** @throws {StateStoreError} `not-found`, also for a call that is not in the journal; `conflict` */
  async completeToolCall(completion: ToolCallCompletion): Promise<void> {
    assertStorable(completion)
    return this.write(completion.sessionId, prepareCompleteToolCall(completion))
  }

  /**
   * Stores a step and its checkpoint, and empties the journal.
   * @throws {StateStoreError} `not-found`, `conflict`
   */
  async commitStep(commit: StepCommit): Promise<void> {
    assertStorable(commit)
    return this.write(commit.sessionId, prepareCommitStep(commit))
  }

  /** The calls of the step under way. @throws {StateStoreError} `not-found` */
  async loadJournal(sessionId: string): Promise<readonly JournalEntry[]> {
    return this.read(sessionId, (sql) => loadJournal(sql, sessionId))
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async saveWorkspaceRef(write: WorkspaceRefWrite): Promise<void> {
    assertStorable(write)
    return this.write(write.sessionId, (sql) => saveWorkspaceRef(sql, write))
  }

  /** Newest first. @throws {StateStoreError} `not-found`, `invalid-query` */
  async listCheckpoints(sessionId: string, query: PageQuery = {}): Promise<Page<Checkpoint>> {
    return this.read(sessionId, (sql) => listCheckpoints(sql, sessionId, query))
  }

  /** `null` for an unknown checkpoint. @throws {StateStoreError} `not-found` */
  async getCheckpoint(sessionId: string, checkpointId: string): Promise<Checkpoint | null> {
    return this.read(sessionId, (sql) => getCheckpoint(sql, sessionId, checkpointId))
  }

  /**
   * Takes a session back to a checkpoint: later messages and steps are gone.
   * @throws {StateStoreError} `not-found` also for the checkpoint; `conflict` while a run holds
   * the session.
   */
  async restoreCheckpoint(
    sessionId: string,
    checkpointId: string,
    now: number,
    options: RestoreOptions = {},
  ): Promise<SessionState> {
    const restore = { sessionId, checkpointId, now, options }
    return this.write(sessionId, (sql) => restoreCheckpoint(sql, restore))
  }

  /** @throws {StateStoreError} `not-found` */
  async loadHistory(sessionId: string): Promise<SessionHistory> {
    return this.read(sessionId, (sql) => loadHistory(sql, sessionId))
  }

  /** @throws {StateStoreError} `not-found` */
  async recordReleased(
    sessionId: string,
    released: ReleasedRef | BranchIntent,
    now: number,
  ): Promise<number> {
    return this.write(sessionId, (sql) => recordReleased(sql, sessionId, released, now))
  }

  /** @throws {StateStoreError} `not-found` */
  async forgetReleased(sessionId: string, ids: readonly number[]): Promise<void> {
    return this.write(sessionId, (sql) => forgetReleased(sql, sessionId, ids))
  }
}
