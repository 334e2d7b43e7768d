import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { SqlError } from '../sql-error.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, numberColumn, optionalColumn, textColumn } from '../state/columns/column.ts'
import { parseChunk } from './chunk-text.ts'

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

/** The first writer of a stream has 1. */
const NO_WRITER = 0

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
const LAST_CHUNK = 'SELECT chunk FROM helix_chunks WHERE stream = ? AND sequence = ?'

const INSERT =
  'INSERT INTO helix_streams' +
  ' (stream_id, writer, is_open, run_start, agent_id, agent_type, timestamp)' +
  ' VALUES (?, 1, 1, 1, ?, ?, 0) ON CONFLICT (stream_id) DO NOTHING RETURNING id'
const START = 'UPDATE helix_streams SET run_start = ?, timestamp = ? WHERE id = ?'
const ACQUIRE =
  'UPDATE helix_streams SET writer = ?, is_open = 1, agent_id = ?, agent_type = ? WHERE id = ?'
const END = 'UPDATE helix_streams SET is_open = 0 WHERE id = ?'
const ID_OF = 'SELECT id FROM helix_streams WHERE stream_id = ?'
const LOCK = `${ID_OF} FOR UPDATE`
/** A run of the session that has the stream, and has a later run. */
const HAS_LATER =
  'SELECT 1 FROM helix_sessions s JOIN helix_runs r ON r.session = s.id' +
  ' WHERE s.session_id = ? AND r.run_id = ? AND r.turn < s.turn'
const DROP_CHUNKS = 'DELETE FROM helix_chunks WHERE stream = ?'
const DROP = 'DELETE FROM helix_streams WHERE id = ?'

export function findStream(sql: SqlStatements, streamId: string): StreamHead | undefined {
  return toHead(sql.get(HEAD_OF_NAME, toSqlText(streamId)))
}

/** As `findStream`, for a transaction that decides by what it finds. */
function lockStream(sql: SqlStatements, streamId: string): StreamHead | undefined {
  sql.server?.lock(LOCK, toSqlText(streamId))
  return findStream(sql, streamId)
}

export function loadStream(sql: SqlStatements, id: number): StreamHead | undefined {
  return toHead(sql.get(HEAD_OF_ID, id))
}

/** When the last chunk of a stream was written; 0 when there was none. */
export function lastTimestamp(sql: SqlStatements, head: StreamHead): number {
  const row = sql.get(LAST_CHUNK, head.id, head.next - 1)
  return (row && timestampOf(row)) ?? head.timestamp
}

/** A damaged chunk has none. */
function timestampOf(row: SqlRow): number | undefined {
  try {
    const { timestamp } = parseChunk(textColumn(row, 'chunk'))
    return typeof timestamp === 'number' ? timestamp : undefined
  } catch (error) {
    if (error instanceof SqlError) return undefined
    throw error
  }
}

/**
 * Begins a run without chunks. It reserves the sequence number before its first chunk, for the
 * `stream_resync` that announces the run.
 */
export function startRun(sql: SqlStatements, names: RunNames): AcquiredStream {
  const head = lockStream(sql, names.streamId)
  if (head === undefined) return createStream(sql, names) ?? startRun(sql, names)
  if (hasLaterRun(sql, names)) return { stream: head.id, writer: NO_WRITER }
  sql.run(START, head.next + 1, lastTimestamp(sql, head), head.id)
  sql.run(DROP_CHUNKS, head.id)
  return acquireStream(sql, head, names)
}

/** Resumes the run that is there. */
export function resumeRun(sql: SqlStatements, names: RunNames): AcquiredStream {
  const head = lockStream(sql, names.streamId)
  if (head === undefined) return createStream(sql, names) ?? resumeRun(sql, names)
  if (hasLaterRun(sql, names)) return { stream: head.id, writer: NO_WRITER }
  return acquireStream(sql, head, names)
}

/** @returns the stream, unless another run than the one that is named holds it */
export function findRun(
  sql: SqlStatements,
  streamId: string,
  agentId: string | undefined,
): StreamHead | undefined {
  const head = lockStream(sql, streamId)
  return agentId === undefined || head?.agentId === agentId ? head : undefined
}

export function closeStream(sql: SqlStatements, stream: number): void {
  sql.run(END, stream)
}

/** Reads nothing else of it: the rest may be damaged. */
export function deleteStream(sql: SqlStatements, streamId: string): number | undefined {
  sql.server?.lock(LOCK, toSqlText(streamId))
  const row = sql.get(ID_OF, toSqlText(streamId))
  if (row === undefined) return undefined
  const id = numberColumn(row, 'id')
  sql.run(DROP_CHUNKS, id)
  sql.run(DROP, id)
  return id
}

/**
 * A process that froze between its run and its stream comes too late: the stream is of the run that has
 * taken its session over.
 */
function hasLaterRun(sql: SqlStatements, { streamId, agentId }: RunNames): boolean {
  return sql.get(HAS_LATER, toSqlText(streamId), toSqlText(agentId)) !== undefined
}

/** `undefined` when another process has just made it. */
function createStream(
  sql: SqlStatements,
  { streamId, agentId, agentType }: RunNames,
): AcquiredStream | undefined {
  const row = sql.get(INSERT, toSqlText(streamId), toSqlText(agentId), toSqlText(agentType))
  return row === undefined ? undefined : { stream: numberColumn(row, 'id'), writer: 1 }
}

function acquireStream(sql: SqlStatements, head: StreamHead, names: RunNames): AcquiredStream {
  const writer = head.writer + 1
  sql.run(ACQUIRE, writer, toSqlText(names.agentId), toSqlText(names.agentType), head.id)
  return { stream: head.id, writer }
}

function toHead(row: SqlRow | undefined): StreamHead | undefined {
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
