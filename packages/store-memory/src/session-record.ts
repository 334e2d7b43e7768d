import { type JsonValue, type Message, StateStoreError } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  Checkpoint,
  FileVersionsSnapshot,
  JournalEntry,
  NewSession,
  RestoreOptions,
  RunRecord,
  RunStart,
  RunWrite,
  SessionState,
  SessionStatus,
  RunUsage,
  StateChange,
  StoredError,
  StoredOutcome,
} from '@helix-agents/core/runtime'
import { HistoryBook } from './history-book.ts'
import { Inbox } from './inbox.ts'

/** The run that may write. */
interface Lease {
  readonly runId: string
  readonly leaseUntil: number
}

/** A run; the steps of a running one are counted by the session. */
interface StoredRun {
  readonly runId: string
  readonly startedAt: number
  readonly stepsBefore: number
  ended?: { readonly status: RunRecord['status']; readonly stepCount: number; readonly at: number }
}

/**
 * Everything that is stored of one session. A step changes fields and appends to arrays; the head
 * is built on demand, so the cost of a step does not grow with the session.
 */
export class SessionRecord {
  /** Counts the sessions of the store; later ones are newer. */
  readonly ordinal: number
  readonly session: NewSession
  readonly messages: Message[] = []
  readonly checkpoints: Checkpoint[] = []
  readonly runs: StoredRun[] = []
  readonly inbox = new Inbox()
  readonly history = new HistoryBook()
  lease: Lease | undefined
  journal: JournalEntry[] = []
  status: SessionStatus = 'idle'
  stepCount = 0
  customState: JsonValue | undefined
  workspaceRefs: Readonly<Record<string, WorkspaceRef>>
  fileLedgers: Readonly<Record<string, FileVersionsSnapshot>> = {}
  output: JsonValue | undefined
  error: StoredError | undefined
  outcome: StoredOutcome | undefined
  owed: readonly string[] | undefined
  usage: RunUsage | undefined
  keepWorkspaces: boolean | undefined
  #version = 1
  #updatedAt: number

  constructor(ordinal: number, session: NewSession) {
    const { messages = [], ...rest } = session
    this.ordinal = ordinal
    this.session = rest
    this.customState = session.customState
    this.workspaceRefs = session.workspaceRefs ?? {}
    this.#updatedAt = session.now
    this.append(messages)
  }

  /** Adds messages one by one: a spread call would limit how many. */
  append(messages: readonly Message[]): void {
    for (const message of messages) this.messages.push(message)
  }

  change({ customState, fileLedgers, usage }: StateChange): void {
    if (customState !== undefined) this.customState = customState.value
    if (fileLedgers !== undefined) this.fileLedgers = { ...this.fileLedgers, ...fileLedgers }
    if (usage !== undefined) this.usage = usage
  }

  /** Records a change: each raises the version by one. */
  touch(now: number): void {
    this.#version++
    this.#updatedAt = now
  }

  isHeldAt(now: number): boolean {
    return this.lease !== undefined && now < this.lease.leaseUntil
  }

  /** @throws {StateStoreError} `conflict` unless the run holds the session. */
  assertHeldBy(write: RunWrite): void {
    if (this.lease?.runId === write.runId) return
    throw new StateStoreError('conflict', write.sessionId, 'this run does not hold it any more')
  }

  beginRun({ runId, leaseMs, now, keepWorkspaces }: RunStart): void {
    this.endLastRun('interrupted', now)
    this.lease = { runId, leaseUntil: now + leaseMs }
    this.keepWorkspaces = keepWorkspaces ?? this.keepWorkspaces
    this.runs.push({ runId, startedAt: now, stepsBefore: this.stepCount })
    this.status = 'running'
    this.output = undefined
    this.error = undefined
    this.owed = undefined
    this.touch(now)
  }

  /** Keeps runs away; nothing else changes. */
  hold(runId: string, leaseUntil: number): void {
    this.lease = { runId, leaseUntil }
  }

  /** Ends the lease and closes the record of the last run, also of one whose lease ran out. */
  endLastRun(status: RunRecord['status'], now: number): void {
    this.lease = undefined
    this.inbox.clearStop()
    const run = this.runs.at(-1)
    if (run === undefined || run.ended !== undefined) return
    run.ended = { status, stepCount: this.stepCount - run.stepsBefore, at: now }
  }

  runRecords(): RunRecord[] {
    const { sessionId } = this.session
    return this.runs.map((run, index) => ({
      runId: run.runId,
      sessionId,
      status: run.ended?.status ?? 'running',
      turn: index + 1,
      stepCount: run.ended?.stepCount ?? this.stepCount - run.stepsBefore,
      startedAt: run.startedAt,
      ...(run.ended !== undefined && { endedAt: run.ended.at }),
    }))
  }

  saveCheckpoint(id: string, now: number): void {
    this.checkpoints.push({
      id,
      sessionId: this.session.sessionId,
      stepCount: this.stepCount,
      messageCount: this.messages.length,
      customState: this.customState,
      workspaceRefs: this.workspaceRefs,
      status: this.status,
      createdAt: now,
    })
  }

  /** Position of a checkpoint, searched from the newest; -1 for an unknown one. */
  checkpointIndex(id: string): number {
    return this.checkpoints.findLastIndex((checkpoint) => checkpoint.id === id)
  }

  /**
   * Goes back to a checkpoint. What the agents read of files after it is not in the conversation
   * any more, so their ledgers start again. A workspace that was opened after it keeps its ref:
   * forgetting it would leak what backs it.
   */
  restore(
    index: number,
    checkpoint: Checkpoint,
    { now, files = {} }: Pick<RestoreOptions, 'files'> & { readonly now: number },
  ): void {
    this.endLastRun('interrupted', now)
    this.messages.length = checkpoint.messageCount
    this.checkpoints.length = index + 1
    this.journal = []
    this.stepCount = checkpoint.stepCount
    this.customState = checkpoint.customState
    const refs = { ...this.workspaceRefs, ...checkpoint.workspaceRefs, ...files }
    const next = Object.entries(refs).filter(
      (entry): entry is [string, WorkspaceRef] => entry[1] !== null,
    )
    const before = this.workspaceRefs
    this.workspaceRefs = Object.fromEntries(next)
    this.history.releaseReplaced(before, this.workspaceRefs, now)
    this.history.goBack(checkpoint.stepCount, Object.keys(files))
    this.fileLedgers = {}
    this.status = 'interrupted'
    this.output = undefined
    this.error = undefined
    this.outcome = undefined
    this.owed = undefined
    this.touch(now)
  }

  head(): SessionState {
    const { now: createdAt, ...labels } = this.session
    const runId = this.runs.at(-1)?.runId
    return {
      ...labels,
      status: this.status,
      version: this.#version,
      stepCount: this.stepCount,
      messageCount: this.messages.length,
      customState: this.customState,
      workspaceRefs: this.workspaceRefs,
      fileLedgers: this.fileLedgers,
      ...(runId !== undefined && { runId }),
      ...(this.lease !== undefined && { leaseUntil: this.lease.leaseUntil }),
      ...(this.owed !== undefined && { owed: this.owed }),
      ...(this.keepWorkspaces !== undefined && { keepWorkspaces: this.keepWorkspaces }),
      ...(this.usage !== undefined && { usage: this.usage }),
      ...(this.output !== undefined && { output: this.output }),
      ...(this.error !== undefined && { error: this.error }),
      ...(this.outcome !== undefined && { outcome: this.outcome }),
      createdAt,
      updatedAt: this.#updatedAt,
    }
  }
}
