import { AgentAlreadyRunningError, type Message, StateStoreError } from '@helix-agents/core'
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
  parseCount,
  parsePageQuery,
  toCursor,
} from '@helix-agents/core/runtime'
import { InMemoryInteractions } from './in-memory-interactions.ts'
import { SessionRecord } from './session-record.ts'

/**
 * Keeps sessions in the memory of the process, for tests and for agents whose sessions may end
 * with it. Messages and state are shared by reference, never copied: they are immutable by
 * contract. A step costs the same at any length of the session.
 */
export class InMemoryStateStore extends InMemoryInteractions implements SessionStateStore {
  #made = 0

  /** @throws {StateStoreError} `conflict` when the session exists. */
  async createSession(session: NewSession): Promise<SessionState> {
    assertStorable({ ...session, customState: { value: session.customState } })
    if (this.sessions.has(session.sessionId)) {
      throw new StateStoreError('conflict', session.sessionId, 'it exists already')
    }
    const record = new SessionRecord(this.#made++, session)
    this.sessions.set(session.sessionId, record)
    return record.head()
  }

  /** `null` for an unknown session. */
  async loadSession(sessionId: string): Promise<SessionState | null> {
    return this.sessions.get(sessionId)?.head() ?? null
  }

  /** @throws {StateStoreError} `not-found`, `invalid-query` */
  async loadMessages(sessionId: string, query: MessageQuery = {}): Promise<MessagePage> {
    const { messages } = this.find(sessionId)
    const offset = parseCount(query.offset, 0, sessionId) ?? 0
    const limit = parseCount(query.limit, 0, sessionId) ?? messages.length
    const page: readonly Message[] = messages.slice(offset, offset + limit)
    const total = messages.length
    return { messages: page, total, hasMore: offset + page.length < total }
  }

  /**
   * Newest first.
   * @throws {StateStoreError} `invalid-query`
   */
  async listSessions(query: SessionQuery = {}): Promise<SessionPage> {
    const { limit, below } = parsePageQuery(query)
    const newestFirst = [...this.sessions.values()]
      .toReversed()
      .filter(
        (record) =>
          record.ordinal < below &&
          (query.agentType === undefined || record.session.agentType === query.agentType) &&
          (query.status === undefined || record.status === query.status) &&
          record.session.sessionId.startsWith(query.idPrefix ?? ''),
      )
    const items = newestFirst.slice(0, limit)
    const last = items.at(-1)
    const more = last !== undefined && newestFirst.length > limit
    return {
      items: items.map((record) => record.head()),
      ...(more && { nextCursor: toCursor(last.ordinal) }),
    }
  }

  /** Removes everything of a session. Removing an unknown one does nothing. */
  async deleteSession(sessionId: string): Promise<void> {
    this.sessions.delete(sessionId)
    this.requests.deleteSession(sessionId)
  }

  /**
   * Makes a run the one writer of a session.
   * @throws {AgentAlreadyRunningError} while another run holds it and renews its lease.
   * @throws {StateStoreError} `not-found`; `conflict` when the session had a run of this id.
   */
  async beginRun(start: RunStart): Promise<SessionState> {
    assertStorable(start)
    const { sessionId, runId, leaseMs, now, hold = false, version } = start
    const record = this.find(sessionId)
    if (record.isHeldAt(now)) throw new AgentAlreadyRunningError(sessionId)
    if (version !== undefined && version !== record.head().version) {
      throw new StateStoreError('conflict', sessionId, 'it has changed since it was read')
    }
    if (record.runs.some((run) => run.runId === runId)) {
      throw new StateStoreError('conflict', sessionId, 'it had a run of this id already')
    }
    if (hold) record.hold(runId, now + leaseMs)
    else record.beginRun(start)
    return record.head()
  }

  /**
   * Renews the lease of a run.
   * @throws {StateStoreError} `not-found`; `conflict` when the lease was lost.
   */
  async renewRun(write: RunWrite & { readonly leaseMs: number }): Promise<void> {
    const record = this.writable(write)
    record.lease = { runId: write.runId, leaseUntil: write.now + write.leaseMs }
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async endRun(end: RunEnd): Promise<SessionState> {
    assertStorable(end)
    const record = this.writable(end)
    record.endLastRun(end.status, end.now)
    if (end.status === 'aborted') this.requests.endSession(end.sessionId, end.now)
    record.status = end.status
    record.output = end.output
    record.error = end.error
    record.outcome = undefined
    record.owed = end.owed
    record.touch(end.now)
    return record.head()
  }

  /**
   * Oldest first.
   * @throws {StateStoreError} `not-found`
   */
  async listRuns(sessionId: string): Promise<readonly RunRecord[]> {
    return this.find(sessionId).runRecords()
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async appendMessages(append: MessageAppend): Promise<void> {
    assertStorable(append)
    const record = this.writable(append)
    record.append(append.messages)
    record.change(append)
    record.outcome = undefined
    record.touch(append.now)
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async beginStep(step: StepStart): Promise<void> {
    assertStorable(step)
    const record = this.writable(step)
    record.append(step.messages)
    record.change(step)
    record.journal = [...step.journal]
    record.outcome = undefined
    record.touch(step.now)
  }

  /** @throws {StateStoreError} `not-found`, also for a call that is not in the journal; `conflict` */
  async completeToolCall(completion: ToolCallCompletion): Promise<void> {
    assertStorable(completion)
    const record = this.writable(completion)
    const { journal } = record
    const index = journal.findIndex((entry) => entry.toolCallId === completion.toolCallId)
    const entry = journal[index]
    if (entry === undefined) {
      throw new StateStoreError('not-found', completion.sessionId, 'the call is not in the journal')
    }
    journal[index] = { ...entry, result: completion.result }
    this.requests.endCalls(completion.sessionId, completion.now, completion.toolCallId)
    record.change(completion)
    record.touch(completion.now)
  }

  /**
   * Stores a step and its checkpoint, and empties the journal.
   * @throws {StateStoreError} `not-found`, `conflict`
   */
  async commitStep(commit: StepCommit): Promise<void> {
    assertStorable(commit)
    const record = this.writable(commit)
    record.append(commit.messages)
    record.change(commit)
    record.journal = []
    this.requests.endCalls(commit.sessionId, commit.now)
    record.outcome = commit.outcome
    record.stepCount++
    if (commit.evictBefore !== undefined) record.history.evict(commit.evictBefore)
    if (commit.workspaceSnapshots !== undefined) {
      record.history.add(commit.workspaceSnapshots, {
        stepCount: record.stepCount,
        now: commit.now,
      })
    }
    record.saveCheckpoint(commit.checkpointId, commit.now)
    record.touch(commit.now)
  }

  /**
   * The calls of the step that was under way, in the order of their start.
   * @throws {StateStoreError} `not-found`
   */
  async loadJournal(sessionId: string): Promise<readonly JournalEntry[]> {
    return [...this.find(sessionId).journal]
  }

  /** @throws {StateStoreError} `not-found`, `conflict` */
  async saveWorkspaceRef(write: WorkspaceRefWrite): Promise<void> {
    assertStorable(write)
    const record = this.writable(write)
    const others = Object.entries(record.workspaceRefs).filter(([name]) => name !== write.workspace)
    const own = write.ref === null ? [] : [[write.workspace, write.ref] as const]
    const before = record.workspaceRefs
    record.workspaceRefs = Object.fromEntries([...others, ...own])
    if (write.releasesOld === true) {
      record.history.releaseReplaced(before, record.workspaceRefs, write.now)
    }
    record.touch(write.now)
  }

  /**
   * Newest first.
   * @throws {StateStoreError} `not-found`, `invalid-query`
   */
  async listCheckpoints(sessionId: string, query: PageQuery = {}): Promise<Page<Checkpoint>> {
    const record = this.find(sessionId)
    const { checkpoints } = record
    const { limit, below } = parsePageQuery(query, sessionId)
    const end = Math.min(below, checkpoints.length)
    const start = Math.max(0, end - limit)
    const items = checkpoints
      .slice(start, end)
      .toReversed()
      .map((checkpoint) => withFiles(record, checkpoint))
    return { items, ...(start > 0 && { nextCursor: toCursor(start) }) }
  }

  /**
   * `null` for an unknown checkpoint.
   * @throws {StateStoreError} `not-found` for an unknown session.
   */
  async getCheckpoint(sessionId: string, checkpointId: string): Promise<Checkpoint | null> {
    const record = this.find(sessionId)
    const checkpoint = record.checkpoints[record.checkpointIndex(checkpointId)]
    return checkpoint === undefined ? null : withFiles(record, checkpoint)
  }

  /**
   * Takes a session back to a checkpoint: later messages and steps are gone. Its status is
   * `interrupted` then.
   * @throws {StateStoreError} `not-found` also for the checkpoint; `conflict` while a run holds
   * the session.
   */
  async restoreCheckpoint(
    sessionId: string,
    checkpointId: string,
    now: number,
    { runId, files = {} }: RestoreOptions = {},
  ): Promise<SessionState> {
    const record = this.find(sessionId)
    if (runId !== undefined) record.assertHeldBy({ sessionId, runId, now })
    else if (record.isHeldAt(now)) {
      throw new StateStoreError('conflict', sessionId, 'a run holds it')
    }
    const index = record.checkpointIndex(checkpointId)
    const checkpoint = record.checkpoints[index]
    if (checkpoint === undefined) {
      throw new StateStoreError('not-found', sessionId, 'no such checkpoint')
    }
    record.restore(index, checkpoint, { now, files })
    this.requests.endSession(sessionId, now)
    return record.head()
  }

  /** @throws {StateStoreError} `not-found` */
  async loadHistory(sessionId: string): Promise<SessionHistory> {
    const { history, checkpoints, workspaceRefs } = this.find(sessionId)
    const { snapshots, changed, released } = history
    const owners = [{ workspaceRefs }, ...checkpoints]
    const refs = owners.flatMap((owner) => Object.values(owner.workspaceRefs))
    return { snapshots, changed, released, refs: [...new Set(refs)] }
  }

  /** @throws {StateStoreError} `not-found` */
  async recordReleased(
    sessionId: string,
    released: ReleasedRef | BranchIntent,
    now: number,
  ): Promise<number> {
    return this.find(sessionId).history.release(released, now)
  }

  /** @throws {StateStoreError} `not-found` */
  async forgetReleased(sessionId: string, ids: readonly number[]): Promise<void> {
    this.find(sessionId).history.forget(ids)
  }
}

function withFiles({ history }: SessionRecord, checkpoint: Checkpoint): Checkpoint {
  const workspaceSnapshots = history.at(checkpoint.stepCount)
  return workspaceSnapshots === undefined ? checkpoint : { ...checkpoint, workspaceSnapshots }
}
