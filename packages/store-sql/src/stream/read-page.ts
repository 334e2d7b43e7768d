import type { SequencedChunk } from '@helix-agents/core'
import type { SqlStatements } from '../sql-database.ts'
import { damaged, numberColumn, textColumn } from '../state/column.ts'
import { lastTimestamp, loadStream, type StreamHead } from './stream-rows.ts'

/** Chunks and bytes that a reader holds at most; of bytes, besides its first chunk. */
const PAGE_CHUNKS = 256
const PAGE_BYTES = 256 * 1024

const PAGE =
  'SELECT sequence, chunk FROM helix_chunks' +
  ' WHERE stream = ? AND sequence >= ? AND sequence < ? AND end_bytes <= ? +' +
  ' (SELECT end_bytes FROM helix_chunks WHERE stream = ? AND sequence = ?)' +
  ' ORDER BY sequence'

export interface StoredChunk {
  readonly sequence: number
  readonly json: string
}

/** What a reader wants next. */
export interface PageRequest {
  readonly stream: number
  readonly position: number
  /** It holds the chunks from there on, and only asks whether they are still current. */
  readonly isHeld: boolean
  readonly maxBufferedChunks: number
}

/** `resync` is for the reader; the chunks of `page` follow each other, maybe up to the last one. */
export type PageResult =
  | { readonly kind: 'page'; readonly chunks: readonly StoredChunk[]; readonly isLast: boolean }
  | { readonly kind: 'resync'; readonly chunk: SequencedChunk }
  | { readonly kind: 'held' | 'wait' | 'end' }

/** Looks at a stream for one reader. @throws {SqlError} `corrupt` when its next chunk is lost. */
export function readPage(sql: SqlStatements, request: PageRequest): PageResult {
  const head = loadStream(sql, request.stream)
  if (head === undefined) return { kind: 'end' }
  const firstKept = Math.max(head.runStart, head.first, head.next - request.maxBufferedChunks)
  const resync = (reason: 'new-run' | 'buffer-overrun'): PageResult => ({
    kind: 'resync',
    chunk: toResync(head, { reason, firstKept, timestamp: lastTimestamp(sql, head) }),
  })
  // Nothing was ever written before the first sequence number.
  const position = head.runStart === 1 ? Math.max(1, request.position) : request.position
  if (position < head.runStart || position > head.next) return resync('new-run')
  if (position === head.next) return { kind: head.isOpen ? 'wait' : 'end' }
  if (position < firstKept) return resync('buffer-overrun')
  if (request.isHeld) return { kind: 'held' }
  const chunks = loadChunks(sql, head.id, position)
  return { kind: 'page', chunks, isLast: chunks.at(-1)?.sequence === head.next - 1 }
}

function loadChunks(sql: SqlStatements, stream: number, position: number): readonly StoredChunk[] {
  const range = [position, position + PAGE_CHUNKS] as const
  const rows = sql.all(PAGE, stream, ...range, PAGE_BYTES, stream, position)
  const chunks = rows.map((row) => ({
    sequence: numberColumn(row, 'sequence'),
    json: textColumn(row, 'chunk'),
  }))
  if (chunks[0]?.sequence !== position) throw damaged('a chunk')
  return chunks
}

interface Resync {
  readonly reason: 'new-run' | 'buffer-overrun'
  readonly firstKept: number
  readonly timestamp: number
}

function toResync(
  { agentId, agentType }: StreamHead,
  { reason, firstKept, timestamp }: Resync,
): SequencedChunk {
  const sequence = firstKept - 1
  const base = { agentId, agentType, timestamp, sequence }
  return { ...base, type: 'stream_resync', reason, nextSequence: firstKept }
}
