import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  SequencedChunk,
  StreamChunk,
  StreamManager,
  StreamReaderOptions,
} from '@helix-agents/core/runtime'
import { SqlStreamManager, type SqlStreamManagerOptions } from '@helix-agents/store-sql'
import { openMigrated } from '../conformance.ts'
import { WatchedDatabase } from '../watched-database.ts'

export type Reader = AsyncIterator<SequencedChunk, undefined>

export function text(delta: string, timestamp = 1000): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp }
}

/** Streams in memory, and what they ask of their database. */
export async function openStreams(options: SqlStreamManagerOptions = {}) {
  const database = new WatchedDatabase(await openMigrated())
  return { database, streams: new SqlStreamManager(database, options) }
}

export async function openReader(
  streams: StreamManager,
  options?: StreamReaderOptions,
  streamId = 's',
): Promise<Reader> {
  const chunks = await streams.read(streamId, options)
  return chunks![Symbol.asyncIterator]() as Reader
}

export async function readAll(
  streams: StreamManager,
  options?: StreamReaderOptions,
  streamId = 's',
): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  for await (const chunk of (await streams.read(streamId, options))!) chunks.push(chunk)
  return chunks
}

/** What each chunk says. */
export function wordsOf(chunks: readonly SequencedChunk[]): string[] {
  return chunks.map((chunk) => {
    if (chunk.type === 'text_delta') return chunk.delta
    return chunk.type === 'stream_resync' ? chunk.reason : chunk.type
  })
}

/** Lets everything that can go on without I/O go on. */
export async function settled(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
