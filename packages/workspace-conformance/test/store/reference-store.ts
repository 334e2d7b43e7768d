import { AgentAlreadyRunningError, type Message, StateStoreError } from '@helix-agents/core'
import type {
  Checkpoint,
  JournalEntry,
  NewSession,
  QueuedMessage,
  SessionInteractionStore,
  RunRecord,
  RunWrite,
  SessionRequest,
  SessionState,
  SessionStateStore,
  StateChange,
  StopRequest,
} from '@helix-agents/core/runtime'
import {
  addFiles,
  goBack,
  newHistory,
  releaseRef,
  releaseReplacedRefs,
  type StoredHistory,
  toHistory,
  withFilesOf,
} from './reference-history.ts'
import { count, pageOf } from './reference-page.ts'
import { withInteractions } from './interaction/reference-interactions.ts'

/** All data of one session; plain, so that a copy of it is a reopened store. */
export interface Stored {
  readonly ordinal: number
  head: SessionState
  messages: Message[]
  runs: RunRecord[]
  checkpoints: Checkpoint[]
  journal: JournalEntry[]
  holder: { runId: string; until: number } | undefined
  isDamaged: boolean
  /** Those that it asks, also through another session. */
  requests: ReferenceRequest[]
  inbox: { message: QueuedMessage; isQueued: boolean }[]
  stop: StopRequest | undefined
  history: StoredHistory
}

/** A request; `at` is its place among those of all sessions. */
export interface ReferenceRequest {
  readonly at: number
  request: SessionRequest
  isLive: boolean
}

export type StoredSessions = Map<string, Stored>

/** The simplest store that keeps the contract; saboteurs break one method of it. */
export function createReferenceStore(sessions: StoredSessions = new Map()): SessionStateStore {
  return withInteractions(createSessionsStore(sessions), sessions)
}

function createSessionsStore(
  sessions: StoredSessions,
): Omit<SessionStateStore, keyof SessionInteractionStore> {
  let ordinals = sessions.size
  const find = (sessionId: string): Stored => {
    const stored = sessions.get(sessionId)
    if (stored === undefined) throw new StateStoreError('not-found', sessionId, 'unknown')
    return stored
  }
  const held = (write: RunWrite): Stored => {
    const stored = find(write.sessionId)
    if (stored.holder?.runId === write.runId) return stored
    throw new StateStoreError('conflict', write.sessionId, 'not held')
  }
  const runStart = async ({
    sessionId,
    runId,
    now,
    leaseMs,
    hold,
    keepWorkspaces,
    version,
  }: Parameters<SessionStateStore['beginRun']>[0]): Promise<SessionState> => {
    const stored = find(sessionId)
    if (stored.holder !== undefined && now < stored.holder.until) {
      throw new AgentAlreadyRunningError(sessionId)
    }
    const isChanged = version !== undefined && version !== stored.head.version
    const isUsed = stored.runs.some((run) => run.runId === runId)
    if (isChanged || isUsed) throw new StateStoreError('conflict', sessionId, 'begin')
    if (hold === true) {
      stored.holder = { runId, until: now + leaseMs }
      stored.head = { ...stored.head, leaseUntil: now + leaseMs }
      return stored.head
    }
    abandon(stored, now)
    stored.holder = { runId, until: now + leaseMs }
    const turn = stored.runs.length + 1
    stored.runs.push({ runId, sessionId, status: 'running', turn, stepCount: 0, startedAt: now })
    const over = { output: undefined, error: undefined, owed: undefined }
    const told = keepWorkspaces === undefined ? {} : { keepWorkspaces }
    const begun = { runId, leaseUntil: now + leaseMs, ...told }
    return change(stored, now, { status: 'running', ...begun, ...over })
  }
  return {
    createSession: async (session) => {
      if (sessions.has(session.sessionId)) {
        throw new StateStoreError('conflict', session.sessionId, 'exists')
      }
      const stored = newStored(session, ordinals++)
      sessions.set(session.sessionId, stored)
      return stored.head
    },
    loadSession: async (sessionId) => {
      const stored = sessions.get(sessionId)
      if (stored?.isDamaged) throw new StateStoreError('corrupt', sessionId, 'damaged')
      return stored?.head ?? null
    },
    loadMessages: async (sessionId, { offset, limit } = {}) => {
      const { messages } = find(sessionId)
      const from = count(offset, 0) ?? 0
      const page = messages.slice(from, from + (count(limit, 0) ?? messages.length))
      return {
        messages: page,
        total: messages.length,
        hasMore: from + page.length < messages.length,
      }
    },
    listSessions: async (query = {}) => {
      const all = [...sessions.values()].filter(
        ({ head }) =>
          (query.agentType === undefined || head.agentType === query.agentType) &&
          (query.status === undefined || head.status === query.status) &&
          head.sessionId.startsWith(query.idPrefix ?? ''),
      )
      const page = pageOf(
        all.map((stored) => ({ at: stored.ordinal, item: stored })),
        query,
      )
      const unreadable = page.items
        .filter((stored) => stored.isDamaged)
        .map(({ head }) => ({ sessionId: head.sessionId, code: 'corrupt' as const }))
      return {
        ...page,
        items: page.items.filter((stored) => !stored.isDamaged).map(({ head }) => head),
        ...(unreadable.length > 0 && { unreadable }),
      }
    },
    deleteSession: async (sessionId) => void sessions.delete(sessionId),
    beginRun: runStart,
    renewRun: async (write) => {
      const stored = held(write)
      const until = write.now + write.leaseMs
      stored.holder = { runId: write.runId, until }
      stored.head = { ...stored.head, leaseUntil: until }
    },
    endRun: async (end) => {
      const stored = held(end)
      closeRun(stored, end.status, end.now)
      const { status, output, error, owed } = end
      const over = { outcome: undefined, owed, leaseUntil: undefined }
      return change(stored, end.now, { status, output, error, ...over })
    },
    listRuns: async (sessionId) => find(sessionId).runs,
    appendMessages: async (write) => {
      const stored = held(write)
      stored.messages = [...stored.messages, ...write.messages]
      change(stored, write.now, { outcome: undefined, ...stateAfter(stored, write) })
    },
    beginStep: async (step) => {
      const stored = held(step)
      stored.messages = [...stored.messages, ...step.messages]
      stored.journal = [...step.journal]
      change(stored, step.now, { outcome: undefined, ...stateAfter(stored, step) })
    },
    completeToolCall: async (write) => {
      const stored = held(write)
      if (!stored.journal.some((entry) => entry.toolCallId === write.toolCallId)) {
        throw new StateStoreError('not-found', write.sessionId, 'call')
      }
      stored.journal = stored.journal.map((entry) =>
        entry.toolCallId === write.toolCallId ? { ...entry, result: write.result } : entry,
      )
      change(stored, write.now, stateAfter(stored, write))
    },
    commitStep: async (commit) => {
      const stored = held(commit)
      stored.messages = [...stored.messages, ...commit.messages]
      stored.journal = []
      const run = stored.runs.at(-1)!
      stored.runs[stored.runs.length - 1] = { ...run, stepCount: run.stepCount + 1 }
      const head = change(stored, commit.now, {
        stepCount: stored.head.stepCount + 1,
        outcome: commit.outcome,
        ...stateAfter(stored, commit),
      })
      const { sessionId, stepCount, messageCount, customState, workspaceRefs, status } = head
      const saved = { sessionId, stepCount, messageCount, customState, workspaceRefs, status }
      addFiles(stored.history, commit, stepCount)
      stored.checkpoints.push({ ...saved, id: commit.checkpointId, createdAt: commit.now })
    },
    loadJournal: async (sessionId) => find(sessionId).journal,
    saveWorkspaceRef: async (write) => {
      const stored = held(write)
      const { [write.workspace]: _, ...others } = stored.head.workspaceRefs
      const own = write.ref === null ? {} : { [write.workspace]: write.ref }
      const before = stored.head.workspaceRefs
      const after = { ...others, ...own }
      change(stored, write.now, { workspaceRefs: after })
      if (write.releasesOld) releaseReplacedRefs(stored.history, { before, after }, write.now)
    },
    listCheckpoints: async (sessionId, query = {}) => {
      const { checkpoints, history } = find(sessionId)
      return pageOf(
        checkpoints.map((item, at) => ({ at, item: withFilesOf(history, item) })),
        query,
      )
    },
    getCheckpoint: async (sessionId, id) => {
      const { checkpoints, history } = find(sessionId)
      const found = checkpoints.find((checkpoint) => checkpoint.id === id)
      return found === undefined ? null : withFilesOf(history, found)
    },
    restoreCheckpoint: async (sessionId, id, now, { runId, files = {} } = {}) => {
      const stored = runId === undefined ? find(sessionId) : held({ sessionId, runId, now })
      if (runId === undefined && stored.holder !== undefined && now < stored.holder.until) {
        throw new StateStoreError('conflict', sessionId, 'held')
      }
      const index = stored.checkpoints.findIndex((checkpoint) => checkpoint.id === id)
      const checkpoint = stored.checkpoints[index]
      if (checkpoint === undefined) throw new StateStoreError('not-found', sessionId, 'checkpoint')
      abandon(stored, now)
      stored.checkpoints = stored.checkpoints.slice(0, index + 1)
      stored.messages = stored.messages.slice(0, checkpoint.messageCount)
      stored.journal = []
      const { stepCount, customState } = checkpoint
      const before = stored.head.workspaceRefs
      const merged = Object.entries({ ...before, ...checkpoint.workspaceRefs, ...files })
      const workspaceRefs = Object.fromEntries(
        merged.flatMap(([name, ref]) => (ref ? [[name, ref]] : [])),
      )
      releaseReplacedRefs(stored.history, { before, after: workspaceRefs }, now)
      goBack(stored.history, stepCount, Object.keys(files))
      const back = { stepCount, customState, workspaceRefs, fileLedgers: {} }
      return change(stored, now, {
        ...back,
        status: 'interrupted',
        output: undefined,
        error: undefined,
        outcome: undefined,
        owed: undefined,
        leaseUntil: undefined,
      })
    },
    loadHistory: async (sessionId) => {
      const { history, checkpoints, head } = find(sessionId)
      return toHistory(history, [head, ...checkpoints])
    },
    recordReleased: async (sessionId, released, now) =>
      releaseRef(find(sessionId).history, released, now),
    forgetReleased: async (sessionId, ids) => {
      const { history } = find(sessionId)
      history.released = history.released.filter(({ id }) => !ids.includes(id))
    },
  }
}

function stateAfter(stored: Stored, given: StateChange): Change {
  const { customState, fileLedgers, usage } = given
  return {
    ...(usage && { usage }),
    fileLedgers: { ...stored.head.fileLedgers, ...fileLedgers },
    ...(customState && { customState: customState.value }),
  }
}

function newStored(session: NewSession, ordinal: number): Stored {
  const { now, messages = [], workspaceRefs = {}, ...labels } = session
  const counts = { version: 1, stepCount: 0, messageCount: messages.length }
  const times = { createdAt: now, updatedAt: now }
  return {
    ordinal,
    head: { ...labels, workspaceRefs, fileLedgers: {}, ...counts, ...times, status: 'idle' },
    messages: [...messages],
    runs: [],
    checkpoints: [],
    journal: [],
    holder: undefined,
    isDamaged: false,
    requests: [],
    inbox: [],
    stop: undefined,
    history: newHistory(),
  }
}

/** Fields of the head; those given as `undefined` are removed. */
type Change = { [K in keyof SessionState]?: SessionState[K] | undefined }

function change(stored: Stored, now: number, fields: Change): SessionState {
  const version = stored.head.version + 1
  const messageCount = stored.messages.length
  const next = { ...stored.head, ...fields, version, messageCount, updatedAt: now }
  stored.head = next as SessionState
  return stored.head
}

function closeRun(stored: Stored, status: RunRecord['status'], now: number): void {
  stored.holder = undefined
  const run = stored.runs.at(-1)
  if (run === undefined || run.endedAt !== undefined) return
  stored.runs[stored.runs.length - 1] = { ...run, status, endedAt: now }
}

function abandon(stored: Stored, now: number): void {
  if (stored.holder !== undefined) closeRun(stored, 'interrupted', now)
}
