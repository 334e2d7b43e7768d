import {
  parsePageQuery,
  type SessionPage,
  type SessionQuery,
  type SessionState,
  toCursor,
  type UnreadableSession,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { SqlError } from '../sql-error.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, numberColumn, textColumn } from './columns/column.ts'
import { rangesOfPrefix, type TextRange } from './columns/id-prefix.ts'
import { findHeads, foundHead, loadKnownHead } from './session-head.ts'

/** Of so many ids that begin alike the newest ones are sorted out; of more a page is found soon. */
const FEW = 1000
const WALK =
  "SELECT set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)"
const COLUMNS = 'id, session_id, agent_type, status'

export function listSessions(sql: SqlStatements, query: SessionQuery): SessionPage {
  const { limit, below } = parsePageQuery(query)
  const { from, conditions, order, values } = selectionOf(sql, query, below)
  const statement =
    `SELECT id, session_id FROM ${from} WHERE ${conditions.join(' AND ')}` +
    ` ORDER BY ${order.map((column) => `${column} DESC`).join(', ')} LIMIT ?`
  const rows = sql.all(statement, ...values, limit + 1)
  const heads = headsOf(sql, rows.slice(0, limit))
  const items = heads.filter((head) => 'status' in head)
  const unreadable = heads.filter((head) => 'code' in head)
  const last = rows[limit - 1]
  return {
    items,
    ...(unreadable.length > 0 && { unreadable }),
    ...(last !== undefined && rows.length > limit && { nextCursor: toCursor(keyOf(last)) }),
  }
}

function keyOf(row: SqlRow): number {
  return numberColumn(row, 'id')
}

/** What a page is chosen from, and by what. */
interface Selection {
  readonly from: string
  readonly conditions: readonly string[]
  readonly order: readonly string[]
  /** Of `from`, then of `conditions`. */
  readonly values: readonly (string | number)[]
}

/** The sessions of an agent, in a status, or both, below a key. */
interface Wanted {
  readonly columns: readonly string[]
  readonly values: readonly string[]
  readonly below: number
}

function selectionOf(sql: SqlStatements, query: SessionQuery, below: number): Selection {
  const { agentType, status, idPrefix = '' } = query
  const given = [
    ...(agentType === undefined ? [] : [['agent_type', toSqlText(agentType)] as const]),
    ...(status === undefined ? [] : [['status', status] as const]),
  ]
  const columns = given.map(([column]) => column)
  const wanted = { columns, values: given.map(([, value]) => value), below }
  return idPrefix === '' ? onIndex(sql, wanted) : withPrefix(sql, idPrefix, wanted)
}

function plain({ columns, values, below }: Wanted): Selection {
  return {
    from: 'helix_sessions',
    conditions: [...columns.map((column) => `${column} = ?`), 'id < ?'],
    order: ['id'],
    values: [...values, below],
  }
}

/**
 * Each choice of columns has an index in the order of the list. A server that thinks that many are wanted
 * walks over all sessions instead: its order names the index, which changes nothing else.
 */
function onIndex(sql: SqlStatements, wanted: Wanted): Selection {
  const { columns, values, below } = wanted
  if (sql.server === undefined || columns.length === 0) return plain(wanted)
  const order = [...columns, 'id']
  const key = `(${order.join(', ')})`
  const bound = `(${order.map(() => '?').join(', ')})`
  return {
    from: 'helix_sessions',
    conditions: [`${key} < ${bound}`, `${key} > ${bound}`],
    order,
    values: [...values, below, ...values, -1],
  }
}

/**
 * No index has both the ids and the order of the list, and a database knows too little to choose: it would
 * sort all that begin alike, or walk over all that do not. Few are sorted, and among many the walk is short.
 */
function withPrefix(sql: SqlStatements, idPrefix: string, wanted: Wanted): Selection {
  const ranges = rangesOfPrefix(idPrefix)
  const bounds = ranges.flat()
  const matches = ranges
    .map((range) => `SELECT ${COLUMNS} FROM helix_sessions WHERE ${within('session_id', range)}`)
    .join(' UNION ALL ')
  const few = `(${matches} LIMIT ${FEW}) AS matches`
  const found = sql.get(`SELECT count(*) AS count FROM ${few}`, ...bounds)
  if (found !== undefined && numberColumn(found, 'count') < FEW) {
    const all = plain(wanted)
    return { ...all, from: few, values: [...bounds, ...all.values] }
  }
  // A server that expects less than a page would read and sort all there is.
  if (sql.server !== undefined) sql.run(WALK)
  const walk = onIndex(sql, wanted)
  // An expression, so that the index of the ids is not taken.
  const either = ranges.map((range) => `(${within("session_id || ''", range)})`).join(' OR ')
  return {
    ...walk,
    conditions: [...walk.conditions, `(${either})`],
    values: [...walk.values, ...bounds],
  }
}

function within(text: string, { length }: TextRange): string {
  return length === 1 ? `${text} >= ?` : `${text} >= ? AND ${text} < ?`
}

type ListedSession = SessionState | UnreadableSession

/**
 * A server is asked for all of them. In a file one at a time costs no more: what is damaged there of one
 * session does not fail the statement of another.
 */
function headsOf(sql: SqlStatements, rows: readonly SqlRow[]): readonly ListedSession[] {
  if (sql.server === undefined) {
    return rows.map((row) => tryHead(row, (sessionId) => loadKnownHead(sql, sessionId)))
  }
  if (rows.length === 0) return []
  const found = findHeads(sql, rows.map(keyOf))
  return rows.map((row) => tryHead(row, (sessionId) => foundHead(found, keyOf(row), sessionId)))
}

function tryHead(row: SqlRow, load: (sessionId: string) => SessionState): ListedSession {
  let sessionId = textColumn(row, 'session_id')
  try {
    sessionId = nameColumn(row, 'session_id')
    return load(sessionId)
  } catch (error) {
    if (!(error instanceof SqlError && error.kind === 'corrupt')) throw error
    return { sessionId, code: 'corrupt' }
  }
}
