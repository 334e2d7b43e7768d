import {
  type Page,
  parsePageQuery,
  type RequestQuery,
  type SessionRequest,
  toCursor,
} from '@helix-agents/core/runtime'
import type { SqlStatements, SqlValue } from '../../sql-database.ts'
import { numberColumn } from '../columns/column.ts'
import { findSession } from '../session-row.ts'
import { toSessionRequest } from './request-row.ts'

/** An open request is live, which the index of a session goes by. */
const STATES = {
  open: 'decision IS NULL AND (expires_at IS NULL OR expires_at > ?)',
  resolved: '(decision IS NOT NULL OR expires_at <= ?)',
} as const

/** Oldest first. */
export function listRequests(sql: SqlStatements, query: RequestQuery): Page<SessionRequest> {
  const { limit, above } = parsePageQuery(query, query.sessionId)
  const { statement, values } = toStatement(sql, query)
  const rows = sql.all(statement, ...values, above, limit + 1)
  const last = rows[limit - 1]
  return {
    items: rows.slice(0, limit).map(toSessionRequest),
    ...(last !== undefined &&
      rows.length > limit && { nextCursor: toCursor(numberColumn(last, 'id')) }),
  }
}

function toStatement(
  sql: SqlStatements,
  { sessionId, state, now }: RequestQuery,
): { readonly statement: string; readonly values: readonly SqlValue[] } {
  const conditions = [
    ...(sessionId === undefined ? [] : ['session = ?']),
    ...(sessionId !== undefined && state === 'open' ? ['is_live = 1'] : []),
    ...(state === undefined ? [] : [STATES[state]]),
    'id > ?',
  ]
  const from = sessionId === undefined && state === 'open' ? ' INDEXED BY helix_requests_open' : ''
  return {
    statement:
      `SELECT * FROM helix_requests${from} WHERE ${conditions.join(' AND ')}` +
      ' ORDER BY id LIMIT ?',
    values: [
      ...(sessionId === undefined ? [] : [findSession(sql, sessionId).id]),
      ...(state === undefined ? [] : [now]),
    ],
  }
}
