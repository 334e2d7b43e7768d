import { FleetError } from '@helix-agents/core/runtime'
import { type SqlRow, type SqlStatements, type SqlValue, toSqlText } from '@helix-agents/store-sql'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type { DueQuery, FleetPage } from '../store/fleet-store.ts'
import {
  EQUAL_FILTERS,
  parseDueQuery,
  type ParsedQuery,
  toCursor,
  toDueCursor,
} from '../store/parse-query.ts'
import { toRecord } from './record-row.ts'

const COLUMN_OF: Readonly<Record<(typeof EQUAL_FILTERS)[number], string>> = {
  sessionId: 'session_id',
  taskId: 'task_id',
  tenant: 'tenant',
  agentType: 'agent_type',
  provider: 'provider',
  environment: 'environment',
}

/** Filters that have an index, the most selective first. */
const TELLING: readonly string[] = ['session_id', 'task_id', 'pool']
const LESS_TELLING: readonly string[] = ['tenant', 'agent_type']

interface Condition {
  readonly column: string
  readonly text: string
  readonly values: readonly SqlValue[]
}

/**
 * The newest records that fit. In SQLite, exactly one condition may use an index: the others carry
 * a `+`, so that it does not choose an index that fits almost every record. A server has statistics.
 */
export function listRecords(sql: SqlStatements, query: ParsedQuery): FleetPage {
  const { limit } = query
  const [statuses, rest] = conditionsOf(query)
  const branches = statuses.length === 0 ? [undefined] : statuses
  // One status after the other keeps each on its index; together they are merged below.
  const rows = branches.flatMap((status) => readBranch(sql, query, status, rest))
  rows.sort((a, b) => seqOf(b) - seqOf(a))
  return toPage(rows, limit, (row) => toCursor(seqOf(row)))
}

function readBranch(
  sql: SqlStatements,
  { below, limit }: ParsedQuery,
  status: string | undefined,
  rest: readonly Condition[],
): readonly SqlRow[] {
  const wanted: readonly Condition[] =
    status === undefined
      ? rest
      : [...rest, { column: 'status', text: 'status = ?', values: [status] }]
  const leading = leadingOf(wanted, status)
  const mark = sql.server === undefined ? '+' : ''
  const texts = wanted.map(({ column, text }) => (column === leading ? text : `${mark}${text}`))
  const statement =
    'SELECT seq, id, body FROM helix_fleet_sandboxes' +
    ` WHERE ${['seq < ?', ...texts].join(' AND ')} ORDER BY seq DESC LIMIT ?`
  return sql.all(statement, below, ...wanted.flatMap(({ values }) => values), limit + 1)
}

/** Most records are terminated: that status is the least selective, any other one is very selective. */
function leadingOf(
  conditions: readonly Condition[],
  status: string | undefined,
): string | undefined {
  const columns = conditions.map(({ column }) => column)
  const order =
    status === 'terminated'
      ? [...TELLING, ...LESS_TELLING, 'status']
      : [...TELLING, 'status', ...LESS_TELLING]
  return order.find((column) => columns.includes(column))
}

function conditionsOf(query: ParsedQuery): [statuses: readonly string[], rest: Condition[]] {
  const rest: Condition[] = query.equal.map(([name, value]) => ({
    column: COLUMN_OF[name],
    text: `${COLUMN_OF[name]} = ?`,
    values: [toSqlText(value)],
  }))
  if (query.pool !== undefined) {
    rest.push({ column: 'pool', text: 'pool = ?', values: [toSqlText(query.pool)] })
  }
  if (query.createdBefore !== undefined) {
    rest.push({ column: 'created_at', text: 'created_at <= ?', values: [query.createdBefore] })
  }
  return [query.statuses ?? [], rest]
}

const DUE =
  'SELECT seq, id, body, attention_at FROM helix_fleet_sandboxes' +
  ' WHERE environment = ? AND attention_at <= ? AND (attention_at, seq) > (?, ?)' +
  ' ORDER BY attention_at, seq LIMIT ?'

/** The most urgent records. @throws {FleetError} `invalid-query` */
export function dueRecords(sql: SqlStatements, query: DueQuery): FleetPage {
  const { after, limit } = parseDueQuery(query)
  const { environment, until } = query
  const rows = sql.all(DUE, toSqlText(environment), until, after.attentionAt, after.key, limit + 1)
  return toPage(rows, limit, (row) =>
    toDueCursor({ attentionAt: Number(row['attention_at']), key: seqOf(row) }),
  )
}

function seqOf(row: SqlRow): number {
  return Number(row['seq'])
}

/** A record that cannot be read is left out: the others are not affected. */
function toPage(
  found: readonly SqlRow[],
  limit: number,
  cursorOf: (row: SqlRow) => string,
): FleetPage {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = last !== undefined && found.length > limit
  const records = rows.flatMap(readable)
  return {
    records,
    ...(hasMore && { nextCursor: cursorOf(last) }),
    unreadable: rows.length - records.length,
  }
}

function readable(row: SqlRow): readonly SandboxRecord[] {
  try {
    return [toRecord(row)]
  } catch (error) {
    if (FleetError.isInstance(error) && error.code === 'corrupt') return []
    throw error
  }
}
