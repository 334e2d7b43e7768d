import { type Message, StateStoreError } from '@helix-agents/core'
import type {
  Checkpoint,
  JournalEntry,
  RunRecord,
  SessionState,
  SessionStateStore,
} from '@helix-agents/core/runtime'

/** What one session is about. */
export interface SessionReport {
  readonly session: SessionState
  readonly runs: readonly RunRecord[]
  readonly journal: readonly JournalEntry[]
  /** The last ones. */
  readonly messages: readonly Message[]
  /** The newest ones, when they were asked for. */
  readonly checkpoints?: readonly Checkpoint[]
}

/** How much of a session is wanted. */
export interface SessionQuery {
  readonly sessionId: string
  /** So many of the last messages. */
  readonly messageCount: number
  readonly hasCheckpoints: boolean
}

const MAX_CHECKPOINTS = 50

/** @throws {StateStoreError} `not-found` for an unknown session, and what the store throws. */
export async function readSession(
  store: SessionStateStore,
  { sessionId, messageCount, hasCheckpoints }: SessionQuery,
): Promise<SessionReport> {
  const session = await store.loadSession(sessionId)
  if (session === null) throw new StateStoreError('not-found', sessionId, 'there is none')
  const checkpoints = hasCheckpoints
    ? (await store.listCheckpoints(sessionId, { limit: MAX_CHECKPOINTS })).items
    : undefined
  return {
    session,
    runs: await store.listRuns(sessionId),
    journal: await store.loadJournal(sessionId),
    messages: await readLast(store, session, messageCount),
    ...(checkpoints !== undefined && { checkpoints }),
  }
}

async function readLast(
  store: SessionStateStore,
  { sessionId, messageCount }: SessionState,
  count: number,
): Promise<readonly Message[]> {
  if (count === 0) return []
  const offset = Math.max(0, messageCount - count)
  return (await store.loadMessages(sessionId, { offset })).messages
}
