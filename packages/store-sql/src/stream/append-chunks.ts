import type { SqlStatements } from '../sql-database.ts'
import { numberColumn, optionalColumn } from '../state/columns/column.ts'
import type { ChunkText } from './chunk-text.ts'
import type { StreamLimits } from './stream-limits.ts'
import type { AcquiredStream } from './stream-rows.ts'

const LOCK = 'SELECT 1 FROM helix_streams WHERE id = ? FOR UPDATE'
/** Nothing, once another writer came or the run ended: this is the fence. */
const TAIL =
  'SELECT s.run_start, l.sequence AS last, l.end_bytes, f.sequence AS first,' +
  ' f.end_bytes - f.bytes AS start_bytes FROM helix_streams s' +
  ' LEFT JOIN helix_chunks l ON l.stream = s.id AND l.sequence =' +
  ' (SELECT max(sequence) FROM helix_chunks WHERE stream = s.id)' +
  ' LEFT JOIN helix_chunks f ON f.stream = s.id AND f.sequence =' +
  ' (SELECT min(sequence) FROM helix_chunks WHERE stream = s.id)' +
  ' WHERE s.id = ? AND s.writer = ? AND s.is_open = 1'
const INSERT =
  'INSERT INTO helix_chunks (stream, sequence, end_bytes, bytes, chunk) VALUES (?, ?, ?, ?, ?)'
/** All chunks of a flush in one statement: each costs a server a message, and its answer. */
const INSERT_ALL =
  'INSERT INTO helix_chunks (stream, sequence, end_bytes, bytes, chunk)' +
  ' SELECT ?, (c->>0)::bigint, (c->>1)::bigint, (c->>2)::bigint, c->>3 FROM json_array_elements(?) c'
/** Walks over chunks that are dropped then, and over one that stays. */
const FIRST_KEPT =
  'SELECT sequence FROM helix_chunks' +
  ' WHERE stream = ? AND end_bytes - bytes >= ? ORDER BY sequence LIMIT 1'
const DROP_UNTIL = 'DELETE FROM helix_chunks WHERE stream = ? AND sequence < ?'

/** Share of a limit that is dropped at once, so that not every write drops something. */
const BATCH_SHARE = 8

/** What is stored of the run: sequence numbers from `first` up to, not including, `next`. */
interface Stored {
  readonly first: number
  readonly next: number
  readonly startBytes: number
  readonly endBytes: number
}

/**
 * Appends chunks to the run of a writer, and drops old ones over the limits.
 * @returns whether old ones were dropped; nothing is written when the stream is another writer's
 */
export function appendChunks(
  sql: SqlStatements,
  acquired: AcquiredStream,
  chunks: readonly ChunkText[],
  limits: StreamLimits,
): { readonly hasDropped: boolean } | undefined {
  const stored = loadStored(sql, acquired)
  if (stored === undefined) return undefined
  let { next, endBytes } = stored
  const rows = chunks.map(({ json, bytes }) => [next++, (endBytes += bytes), bytes, json] as const)
  insertAll(sql, acquired.stream, rows)
  return { hasDropped: dropOld(sql, acquired.stream, { ...stored, next, endBytes }, limits) }
}

function insertAll(
  sql: SqlStatements,
  stream: number,
  rows: readonly (readonly [number, number, number, string])[],
): void {
  if (sql.server !== undefined && rows.length > 1) {
    sql.run(INSERT_ALL, stream, JSON.stringify(rows))
  } else {
    for (const row of rows) sql.run(INSERT, stream, ...row)
  }
}

function loadStored(sql: SqlStatements, acquired: AcquiredStream): Stored | undefined {
  sql.server?.lock(LOCK, acquired.stream)
  const row = sql.get(TAIL, acquired.stream, acquired.writer)
  if (row === undefined) return undefined
  const last = optionalColumn(row, 'last', numberColumn)
  const runStart = numberColumn(row, 'run_start')
  if (last === undefined) return { first: runStart, next: runStart, startBytes: 0, endBytes: 0 }
  return {
    first: numberColumn(row, 'first'),
    next: last + 1,
    startBytes: numberColumn(row, 'start_bytes'),
    endBytes: numberColumn(row, 'end_bytes'),
  }
}

function dropOld(
  sql: SqlStatements,
  stream: number,
  stored: Stored,
  limits: StreamLimits,
): boolean {
  const { first, next } = stored
  const { maxBufferedChunks, maxBufferedBytes } = limits
  let firstKept = first
  if (next - first > maxBufferedChunks + Math.floor(maxBufferedChunks / BATCH_SHARE)) {
    firstKept = next - maxBufferedChunks
  }
  if (stored.endBytes - stored.startBytes > maxBufferedBytes) {
    firstKept = Math.max(firstKept, firstThatFits(sql, stream, stored, maxBufferedBytes))
  }
  const hasDropped = firstKept > first
  if (hasDropped) sql.run(DROP_UNTIL, stream, firstKept)
  return hasDropped
}

/** The newest chunk always fits. */
function firstThatFits(
  sql: SqlStatements,
  stream: number,
  { next, endBytes }: Stored,
  maxBytes: number,
): number {
  const kept = maxBytes - Math.floor(maxBytes / BATCH_SHARE)
  const row = sql.get(FIRST_KEPT, stream, endBytes - kept)
  return row === undefined ? next - 1 : numberColumn(row, 'sequence')
}
