import type { SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, numberColumn, optionalColumn } from '../state/columns/column.ts'

/** The row of a stream, and which chunks it has. */
export interface StreamHead {
  readonly id: number
  readonly writer: number
  readonly isOpen: boolean
  readonly runStart: number
  readonly agentId: string
  readonly agentType: string
  /** When the last chunk of the runs before was written. */
  readonly timestamp: number
  /** The oldest chunk that is still there. */
  readonly first: number
  /** The sequence number that the next chunk gets. */
  readonly next: number
}

/** One writer of a stream. */
export interface AcquiredStream {
  readonly stream: number
  /** Fences off every other writer. */
  readonly writer: number
}

export interface RunNames {
  readonly streamId: string
  readonly agentId: string
  readonly agentType: string
}

/** Reads the first and the last key of the chunks of a stream, and none in between. */
const HEAD =
  'SELECT s.*,' +
  ' (SELECT min(sequence) FROM helix_chunks WHERE stream = s.id) AS first,' +
  ' (SELECT max(sequence) FROM helix_chunks WHERE stream = s.id) AS last' +
  ' FROM helix_streams s WHERE'
const HEAD_OF_ID = `${HEAD} s.id = ?`
const HEAD_OF_NAME = `${HEAD} s.stream_id = ?`
const LAST_TIMESTAMP =
  "SELECT CASE WHEN json_valid(chunk) THEN json_extract(chunk, '$.timestamp') END AS timestamp" +
  ' FROM helix_chunks' +
  ' WHERE stream = ? AND sequence = ?'

const INSERT =
  'INSERT INTO helix_streams' +
  ' (stream_id, writer, is_open, run_start, agent_id, agent_type, timestamp)' +
  ' VALUES (?, 1, 1, 1, ?, ?, 0)'
const START = 'UPDATE helix_streams SET run_start = ?, timestamp = ? WHERE id = ?'
const ACQUIRE =
  'UPDATE helix_streams SET writer = ?, is_open = 1, agent_id = ?, agent_type = ? WHERE id = ?'
const END = 'UPDATE helix_streams SET is_open = 0 WHERE id = ?'
const ID_OF = 'SELECT id FROM helix_streams WHERE stream_id = ?'
const DROP_CHUNKS = 'DELETE FROM helix_chunks WHERE stream = ?'
const DROP = 'DELETE FROM helix_streams WHERE id = ?'

export function findStream(sql: SqlStatements, streamId: string): StreamHead | undefined {
  return toHead(sql.get(HEAD_OF_NAME, toSqlText(streamId)))
}

export function loadStream(sql: SqlStatements, id: number): StreamHead | undefined {
  return toHead(sql.get(HEAD_OF_ID, id))
}

/** When the last chunk of a stream was written; 0 when there was none. */
export function lastTimestamp(sql: SqlStatements, head: StreamHead): number {
  const timestamp = sql.get(LAST_TIMESTAMP, head.id, head.next - 1)?.['timestamp']
  return typeof timestamp === 'number' ? timestamp : head.timestamp
}

/**
 * Begins a run without chunks. It reserves the sequence number before its first chunk, for the
 * `stream_resync` that announces the run.
 */
export function startRun(sql: SqlStatements, names: RunNames): AcquiredStream {
  const head = findStream(sql, names.streamId)
  if (head === undefined) return createStream(sql, names)
  sql.run(START, head.next + 1, lastTimestamp(sql, head), head.id)
  sql.run(DROP_CHUNKS, head.id)
  return acquireStream(sql, head, names)
}

/** Resumes the run that is there. */
export function resumeRun(sql: SqlStatements, names: RunNames): AcquiredStream {
  const head = findStream(sql, names.streamId)
  return head === undefined ? createStream(sql, names) : acquireStream(sql, head, names)
}

/** @returns the stream, unless another run than the one that is named holds it */
export function findRun(
  sql: SqlStatements,
  streamId: string,
  agentId: string | undefined,
): StreamHead | undefined {
  const head = findStream(sql, streamId)
  return agentId === undefined || head?.agentId === agentId ? head : undefined
}

export function closeStream(sql: SqlStatements, stream: number): void {
  sql.run(END, stream)
}

/** Reads nothing else of it: the rest may be damaged. */
export function deleteStream(sql: SqlStatements, streamId: string): number | undefined {
  const row = sql.get(ID_OF, toSqlText(streamId))
  if (row === undefined) return undefined
  const id = numberColumn(row, 'id')
  sql.run(DROP_CHUNKS, id)
  sql.run(DROP, id)
  return id
}

function createStream(
  sql: SqlStatements,
  { streamId, agentId, agentType }: RunNames,
): AcquiredStream {
  sql.run(INSERT, toSqlText(streamId), toSqlText(agentId), toSqlText(agentType))
  const head = findStream(sql, streamId)
  return { stream: head?.id ?? 0, writer: 1 }
}

function acquireStream(sql: SqlStatements, head: StreamHead, names: RunNames): AcquiredStream {
  const writer = head.writer + 1
  sql.run(ACQUIRE, writer, toSqlText(names.agentId), toSqlText(names.agentType), head.id)
  return { stream: head.id, writer }
}

function toHead(row: ReturnType<SqlStatements['get']>): StreamHead | undefined {
  if (row === undefined) return undefined
  const runStart = numberColumn(row, 'run_start')
  const last = optionalColumn(row, 'last', numberColumn)
  return {
    id: numberColumn(row, 'id'),
    writer: numberColumn(row, 'writer'),
    isOpen: numberColumn(row, 'is_open') === 1,
    runStart,
    agentId: nameColumn(row, 'agent_id'),
    agentType: nameColumn(row, 'agent_type'),
    timestamp: numberColumn(row, 'timestamp'),
    first: optionalColumn(row, 'first', numberColumn) ?? runStart,
    next: last === undefined ? runStart : last + 1,
  }
}
