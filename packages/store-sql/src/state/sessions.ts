import { StateStoreError } from '@helix-agents/core'
import {
  type MessagePage,
  type MessageQuery,
  type NewSession,
  type SessionState,
  parseCount,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { damaged, jsonColumn, numberColumn } from './columns/column.ts'
import { fromStorableMessage } from './columns/message-json.ts'
import { keepText } from './columns/long-texts.ts'
import { loadKnownHead } from './session-head.ts'
import { findSession } from './session-row.ts'
import { addMessages, applyChange, saveRefs, toJsonText, toMessageTexts } from './state-values.ts'
import type { StoredLabels, WorkspaceRefs } from './columns/stored-shapes.ts'

const CREATE =
  'INSERT INTO helix_sessions (session_id, agent_type, created_at, updated_at, version, status,' +
  ' step_count, message_count, journal_count, turn, state_version, saved_state, refs_version,' +
  " saved_refs) VALUES (?, ?, ?, ?, 1, 'idle', 0, ?, 0, 0, ?, 0, ?, 0)" +
  ' ON CONFLICT (session_id) DO NOTHING RETURNING id'
const ADD_LABELS = 'INSERT INTO helix_labels (session, labels) VALUES (?, ?)'
const MESSAGES =
  'SELECT message FROM helix_messages WHERE session = ? AND position >= ? AND position < ?' +
  ' ORDER BY position'
const ID_OF = 'SELECT id FROM helix_sessions WHERE session_id = ?'
const DELETE = [
  'DELETE FROM helix_labels WHERE session = ?',
  'DELETE FROM helix_states WHERE session = ?',
  'DELETE FROM helix_refs WHERE session = ?',
  'DELETE FROM helix_ledgers WHERE session = ?',
  'DELETE FROM helix_messages WHERE session = ?',
  'DELETE FROM helix_journal WHERE session = ?',
  'DELETE FROM helix_checkpoints WHERE session = ?',
  'DELETE FROM helix_runs WHERE session = ?',
  'DELETE FROM helix_snapshots WHERE session = ?',
  'DELETE FROM helix_released WHERE session = ?',
  'DELETE FROM helix_requests WHERE session = ?',
  'DELETE FROM helix_requests WHERE asking = ?',
  'DELETE FROM helix_inbox WHERE session = ?',
  'DELETE FROM helix_sessions WHERE id = ?',
]

/** A session as it will be stored. */
export interface SessionToCreate {
  readonly sessionId: string
  readonly agentType: string
  readonly now: number
  readonly state: string | null
  readonly labels: string | null
  readonly refs: WorkspaceRefs
  readonly messages: readonly string[]
}

export function toSessionToCreate(session: NewSession): SessionToCreate {
  const { sessionId, agentType, now, customState, messages = [], workspaceRefs = {} } = session
  const labels = labelsOf(session)
  return {
    sessionId,
    agentType,
    now,
    state: toJsonText(customState),
    labels: Object.keys(labels).length === 0 ? null : JSON.stringify(labels),
    refs: workspaceRefs,
    messages: toMessageTexts(messages),
  }
}

function labelsOf({ userId, tags, metadata, parentSessionId }: NewSession): StoredLabels {
  return {
    ...(userId !== undefined && { userId }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
    ...(parentSessionId !== undefined && { parentSessionId }),
  }
}

export function createSession(sql: SqlStatements, session: SessionToCreate): SessionState {
  const { sessionId, now, state, labels, refs, messages } = session
  const stateVersion = state === null ? 0 : 1
  const refsVersion = Object.keys(refs).length === 0 ? 0 : 1
  const names = [toSqlText(sessionId), toSqlText(session.agentType)] as const
  const row = sql.get(CREATE, ...names, now, now, messages.length, stateVersion, refsVersion)
  if (row === undefined) throw new StateStoreError('conflict', sessionId, 'it exists already')
  const id = numberColumn(row, 'id')
  if (state !== null)
    applyChange(sql, { id, stateVersion }, { state: { text: state }, ledgers: [] })
  if (refsVersion > 0) saveRefs(sql, id, refsVersion, refs)
  if (labels !== null) sql.run(ADD_LABELS, id, keepText(sql, labels))
  addMessages(sql, { id, messageCount: messages.length }, messages)
  return loadKnownHead(sql, sessionId)
}

export function loadMessages(
  sql: SqlStatements,
  sessionId: string,
  query: MessageQuery,
): MessagePage {
  const { id, messageCount: total } = findSession(sql, sessionId)
  const first = Math.min(parseCount(query.offset, 0, sessionId) ?? 0, total)
  const end = Math.min(first + (parseCount(query.limit, 0, sessionId) ?? total), total)
  const rows = end > first ? sql.all(MESSAGES, id, first, end) : []
  if (rows.length !== end - first) throw damaged('messages')
  return { messages: rows.map(toMessage), total, hasMore: end < total }
}

function toMessage(row: SqlRow): MessagePage['messages'][number] {
  const message = fromStorableMessage(jsonColumn(row, 'message'))
  if (message === undefined) throw damaged('message')
  return message
}

export function deleteSession(sql: SqlStatements, sessionId: string): void {
  sql.server?.lock(`${ID_OF} FOR UPDATE`, toSqlText(sessionId))
  const row = sql.get(ID_OF, toSqlText(sessionId))
  if (row === undefined) return
  const id = numberColumn(row, 'id')
  for (const statement of DELETE) sql.run(statement, id)
}
