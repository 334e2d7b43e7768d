import {
  parsePageQuery,
  type RequestPage,
  type RequestQuery,
  type SessionRequest,
  toCursor,
} from '@helix-agents/core/runtime'
import { runTogether, type SqlRow, type SqlStatements, type SqlValue } from '../../sql-database.ts'
import { SqlError } from '../../sql-error.ts'
import { nameColumn, numberColumn, textColumn } from '../columns/column.ts'
import { findSession } from '../session-row.ts'
import { toSessionRequest } from './request-row.ts'

/** An open request is live, which the index of a session goes by. */
const STATES = {
  open: 'decision IS NULL AND (expires_at IS NULL OR expires_at > ?)',
  resolved: '(decision IS NOT NULL OR expires_at <= ?)',
} as const

const LOAD = 'SELECT * FROM helix_requests WHERE id = ?'

/** Oldest first. */
export function listRequests(sql: SqlStatements, query: RequestQuery): RequestPage {
  const { limit, above } = parsePageQuery(query, query.sessionId)
  const { statement, values } = toStatement(sql, query)
  const rows = sql.all(statement, ...values, above, limit + 1)
  const last = rows[limit - 1]
  const works = rows.slice(0, limit).map((row) => () => tryLoad(sql, row))
  const found = runTogether(sql, works)
  const items = found.filter((one) => typeof one !== 'string')
  const unreadable = found.filter((one) => typeof one === 'string')
  return {
    items,
    ...(unreadable.length > 0 && { unreadable }),
    ...(last !== undefined &&
      rows.length > limit && { nextCursor: toCursor(numberColumn(last, 'id')) }),
  }
}

/** One at a time: what is damaged of one request does not fail the others. Its id, if it is. */
function tryLoad(sql: SqlStatements, row: SqlRow): SessionRequest | string {
  let requestId = textColumn(row, 'request_id')
  try {
    requestId = nameColumn(row, 'request_id')
    return toSessionRequest(sql.get(LOAD, numberColumn(row, 'id')) ?? row)
  } catch (error) {
    if (!(error instanceof SqlError && error.kind === 'corrupt')) throw error
    return requestId
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
      `SELECT id, request_id FROM helix_requests${from} WHERE ${conditions.join(' AND ')}` +
      ' ORDER BY id LIMIT ?',
    values: [
      ...(sessionId === undefined ? [] : [findSession(sql, sessionId).id]),
      ...(state === undefined ? [] : [now]),
    ],
  }
}
