import type {
  MessageDelivery,
  QueuedMessage,
  RunWrite,
  SessionSignals,
  StopRequest,
} from '@helix-agents/core/runtime'
import { StateStoreError } from '@helix-agents/core'
import type { SqlRow, SqlStatements } from '../../sql-database.ts'
import { toSqlText } from '../../sql-text.ts'
import {
  damaged,
  jsonColumn,
  nameColumn,
  numberColumn,
  optionalColumn,
  textColumn,
} from '../columns/column.ts'
import { keepText } from '../columns/long-texts.ts'
import { fromStorableMessage, toStorableMessage } from '../columns/message-json.ts'
import { findSession, heldChange, heldUpdate, lockSession, updateHeld } from '../session-row.ts'
import { addMessages } from '../state-values.ts'
import type { PreparedResult } from './requests.ts'

const IS_KNOWN = 'SELECT 1 FROM helix_inbox WHERE session = ? AND message_id = ?'
const ADD =
  'INSERT INTO helix_inbox (session, message_id, delivery, created_at, message)' +
  ' VALUES (?, ?, ?, ?, ?)'
const QUEUED = 'SELECT * FROM helix_inbox WHERE session = ? AND message IS NOT NULL'
const IN_ORDER = ' ORDER BY id'
const FIND = `${QUEUED} AND message_id = ?`
const CONSUME =
  'UPDATE helix_inbox SET message = NULL' +
  ' WHERE session = ? AND message_id = ? AND message IS NOT NULL RETURNING id'
const DELIVER = heldChange('message_count = message_count + ?, outcome = NULL')
const HELD = heldUpdate('run_id = run_id')

const STOP =
  "UPDATE helix_sessions SET stop = CASE stop WHEN 'abort' THEN stop ELSE ? END" +
  ' WHERE session_id = ? RETURNING id'
const COUNT_QUEUED =
  'SELECT count(*) FROM helix_inbox WHERE session = s.id AND message IS NOT NULL AND delivery ='
const SIGNALS =
  `SELECT stop, (${COUNT_QUEUED} 'steer') AS steering, (${COUNT_QUEUED} 'followUp') AS follow_ups,` +
  ' CASE asked WHEN 0 THEN 0 ELSE (SELECT count(*) FROM helix_requests WHERE is_live = 1' +
  ' AND (session = s.id OR asking = s.id) AND decision IS NOT NULL AND started_at IS NULL)' +
  ' END AS answered FROM helix_sessions s WHERE session_id = ?'

export function prepareQueue(queued: QueuedMessage): PreparedResult<void> {
  const { sessionId, delivery, createdAt } = queued
  const text = JSON.stringify(toStorableMessage(queued.message))
  const messageId = toSqlText(queued.messageId)
  return (sql) => {
    const { id } = lockSession(sql, sessionId)
    if (sql.get(IS_KNOWN, id, messageId) !== undefined) return
    sql.run(ADD, id, messageId, delivery, createdAt, keepText(sql, text))
  }
}

/** Oldest first. */
export function listQueuedMessages(
  sql: SqlStatements,
  sessionId: string,
  delivery?: MessageDelivery,
): readonly QueuedMessage[] {
  const { id } = findSession(sql, sessionId)
  const rows =
    delivery === undefined
      ? sql.all(`${QUEUED}${IN_ORDER}`, id)
      : sql.all(`${QUEUED} AND delivery = ?${IN_ORDER}`, id, delivery)
  return rows.map((row) => toQueuedMessage(row, sessionId))
}

function toQueuedMessage(row: SqlRow, sessionId: string): QueuedMessage {
  const message = fromStorableMessage(jsonColumn(row, 'message'))
  const delivery = textColumn(row, 'delivery')
  if (message?.role !== 'user' || !isDelivery(delivery)) throw damaged('message')
  return {
    messageId: nameColumn(row, 'message_id'),
    sessionId,
    delivery,
    message,
    createdAt: numberColumn(row, 'created_at'),
  }
}

function isDelivery(text: string): text is MessageDelivery {
  return text === 'steer' || text === 'followUp'
}

export type Delivery = RunWrite & { readonly messageIds: readonly string[] }

export function deliverMessages(sql: SqlStatements, write: Delivery): readonly QueuedMessage[] {
  const { sessionId, now } = write
  const { id } = updateHeld(sql, write, HELD, [])
  const texts: string[] = []
  const delivered: QueuedMessage[] = []
  for (const messageId of write.messageIds) {
    const row = sql.get(FIND, id, toSqlText(messageId))
    if (row === undefined) continue
    delivered.push(toQueuedMessage(row, sessionId))
    texts.push(textColumn(row, 'message'))
    sql.run(CONSUME, id, toSqlText(messageId))
  }
  if (texts.length > 0) {
    addMessages(sql, updateHeld(sql, write, DELIVER, [now, texts.length]), texts)
  }
  return delivered
}

/** Whether it was queued. */
export function removeQueuedMessage(
  sql: SqlStatements,
  sessionId: string,
  messageId: string,
): boolean {
  return sql.get(CONSUME, findSession(sql, sessionId).id, toSqlText(messageId)) !== undefined
}

/** @throws {StateStoreError} `not-found` */
export function requestStop(sql: SqlStatements, sessionId: string, stop: StopRequest): void {
  if (sql.get(STOP, stop, toSqlText(sessionId)) === undefined) throw unknown(sessionId)
}

/** @throws {StateStoreError} `not-found` */
export function loadSignals(sql: SqlStatements, sessionId: string): SessionSignals {
  const row = sql.get(SIGNALS, toSqlText(sessionId))
  if (row === undefined) throw unknown(sessionId)
  const stop = optionalColumn(row, 'stop', stopColumn)
  return {
    ...(stop !== undefined && { stop }),
    steering: numberColumn(row, 'steering'),
    followUps: numberColumn(row, 'follow_ups'),
    answered: numberColumn(row, 'answered'),
  }
}

function stopColumn(row: SqlRow, name: string): StopRequest {
  const stop = textColumn(row, name)
  if (stop !== 'interrupt' && stop !== 'abort') throw damaged(name)
  return stop
}

function unknown(sessionId: string): StateStoreError {
  return new StateStoreError('not-found', sessionId, 'no such session')
}
