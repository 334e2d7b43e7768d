import type { SequencedChunk } from '@helix-agents/core/runtime'
import type { SqlStatements } from '../sql-database.ts'
import { damaged, numberColumn, textColumn } from '../state/columns/column.ts'
import { fromChunkText } from './chunk-text.ts'
import { lastTimestamp, loadStream, type StreamHead } from './stream-rows.ts'

/** Chunks and bytes that a reader holds at most; of bytes, besides its first chunk. */
const PAGE_CHUNKS = 256
const PAGE_BYTES = 256 * 1024

const PAGE =
  'SELECT sequence, chunk FROM helix_chunks' +
  ' WHERE stream = ? AND sequence >= ? AND sequence < ? AND end_bytes <= ? +' +
  ' (SELECT end_bytes FROM helix_chunks WHERE stream = ? AND sequence = ?)' +
  ' ORDER BY sequence'

/** Streams whose newest page is kept for the next reader. */
const MAX_PAGES = 16

/** A chunk as it is stored; parsed once, by the first reader that gets to it. */
export class StoredChunk {
  readonly sequence: number
  readonly #json: string
  #chunk: SequencedChunk | undefined

  constructor(sequence: number, json: string) {
    this.sequence = sequence
    this.#json = json
  }

  /** @throws {SqlError} `corrupt` */
  get chunk(): SequencedChunk {
    this.#chunk ??= fromChunkText(this.#json, this.sequence)
    return this.#chunk
  }
}

/**
 * The page that was read last of each stream. A chunk never changes, so a page serves later
 * transactions too, as far as the stream still has its chunks.
 */
export class NewestPages {
  readonly #pages = new Map<number, readonly StoredChunk[]>()

  /** Chunks from a position on, at least that one; `undefined` when the page does not have it. */
  find(stream: number, position: number): readonly StoredChunk[] | undefined {
    const page = this.#pages.get(stream)
    const at = position - (page?.[0]?.sequence ?? Infinity)
    return page !== undefined && at >= 0 && at < page.length ? page.slice(at) : undefined
  }

  keep(stream: number, page: readonly StoredChunk[]): void {
    this.#pages.delete(stream)
    this.#pages.set(stream, page)
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }
}

/**
 * What the readers of one transaction share: each stream and each page is read once. On a server each
 * reads its own: works that run again must not depend on what others have read meanwhile.
 */
export class PageTransaction {
  readonly sql: SqlStatements
  readonly #newest: NewestPages
  readonly #heads = new Map<number, StreamHead | undefined>()

  constructor(sql: SqlStatements, newest: NewestPages) {
    this.sql = sql
    this.#newest = newest
  }

  head(stream: number): StreamHead | undefined {
    if (this.sql.server !== undefined) return loadStream(this.sql, stream)
    if (!this.#heads.has(stream)) this.#heads.set(stream, loadStream(this.sql, stream))
    return this.#heads.get(stream)
  }

  /** Chunks from a position on, at least that one. @throws {SqlError} `corrupt` when it is lost. */
  chunksFrom(stream: number, position: number): readonly StoredChunk[] {
    if (this.sql.server !== undefined) return loadChunks(this.sql, stream, position)
    const found = this.#newest.find(stream, position)
    if (found !== undefined) return found
    const loaded = loadChunks(this.sql, stream, position)
    this.#newest.keep(stream, loaded)
    return loaded
  }
}

/** What a reader wants next. */
export interface PageRequest {
  readonly stream: number
  readonly position: number
  /** It holds the chunks from there on, and only asks whether they are still current. */
  readonly isHeld: boolean
  readonly maxBufferedChunks: number
}

/**
 * `resync` is for the reader; the chunks of `page` follow each other, maybe up to the last one there is of
 * a run that goes on.
 */
export type PageResult =
  | { readonly kind: 'page'; readonly chunks: readonly StoredChunk[]; readonly isLast: boolean }
  | { readonly kind: 'resync'; readonly chunk: SequencedChunk }
  | { readonly kind: 'held' | 'wait' | 'end' }

/** Reads a stream for one reader. @throws {SqlError} `corrupt` when its next chunk is lost. */
export function readPage(transaction: PageTransaction, request: PageRequest): PageResult {
  const head = transaction.head(request.stream)
  if (head === undefined) return { kind: 'end' }
  const firstKept = Math.max(head.runStart, head.first, head.next - request.maxBufferedChunks)
  const resync = (reason: 'new-run' | 'buffer-overrun'): PageResult => ({
    kind: 'resync',
    chunk: toResync(head, { reason, firstKept, timestamp: lastTimestamp(transaction.sql, head) }),
  })
  // Nothing was ever written before the first sequence number.
  const position = head.runStart === 1 ? Math.max(1, request.position) : request.position
  if (position < head.runStart || position > head.next) return resync('new-run')
  if (position === head.next) return { kind: head.isOpen ? 'wait' : 'end' }
  if (position < firstKept) return resync('buffer-overrun')
  if (request.isHeld) return { kind: 'held' }
  return toPage(head, transaction.chunksFrom(head.id, position))
}

function toPage({ next, isOpen }: StreamHead, chunks: readonly StoredChunk[]): PageResult {
  return { kind: 'page', chunks, isLast: isOpen && chunks.at(-1)?.sequence === next - 1 }
}

function loadChunks(sql: SqlStatements, stream: number, position: number): readonly StoredChunk[] {
  const range = [position, position + PAGE_CHUNKS] as const
  const rows = sql.all(PAGE, stream, ...range, PAGE_BYTES, stream, position)
  const chunks = rows.map(
    (row) => new StoredChunk(numberColumn(row, 'sequence'), textColumn(row, 'chunk')),
  )
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
