import { systemClock } from '@helix-agents/core'
import type {
  SequencedChunk,
  StreamChunk,
  StreamManager,
  StreamReaderOptions,
  StreamWriter,
} from '@helix-agents/core/runtime'
import { check, ConformanceError } from '../../assert.ts'

export type Reader = AsyncIterator<SequencedChunk, unknown>

/** Longer than any store needs to hand over a chunk, however busy the machine is. */
const PATIENCE_MS = 10_000

export function text(delta: string): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'run-1', agentType: 'agent', timestamp: 1000 }
}

export function startRun(streams: StreamManager, runId = 'run-1'): Promise<StreamWriter> {
  return streams.startRun('stream', runId, 'agent')
}

export async function writeAll(writer: StreamWriter, ...deltas: readonly string[]): Promise<void> {
  for (const delta of deltas) await writer.write(text(delta))
}

/** A reader of the stream, which must be there. */
export async function openReader(
  streams: StreamManager,
  options?: StreamReaderOptions,
): Promise<Reader> {
  const chunks = await streams.read('stream', options)
  check(chunks !== null, 'the stream to be there')
  return chunks[Symbol.asyncIterator]()
}

/** The next chunk; fails when the reader ends. */
export async function take(reader: Reader): Promise<SequencedChunk> {
  const result = await within(reader.next())
  check(result.done !== true, 'a chunk, got the end of the stream')
  return result.value
}

/** As many chunks as asked for. */
export async function takeMany(reader: Reader, count: number): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  while (chunks.length < count) chunks.push(await take(reader))
  return chunks
}

/** Everything up to the end of the reader. */
export async function takeRest(reader: Reader): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  for (;;) {
    const result = await within(reader.next())
    if (result.done === true) return chunks
    chunks.push(result.value)
  }
}

/** Everything a new reader gets. */
export async function readAll(
  streams: StreamManager,
  options?: StreamReaderOptions,
): Promise<SequencedChunk[]> {
  return takeRest(await openReader(streams, options))
}

/** One word a chunk: its text, or the reason of a `stream_resync`. */
export function wordsOf(chunks: readonly SequencedChunk[]): readonly string[] {
  return chunks.map((chunk) => {
    if (chunk.type === 'text_delta') return chunk.delta
    return chunk.type === 'stream_resync' ? chunk.reason : chunk.type
  })
}

/** A value that must come while promises settle, before the event loop turns. */
export function beforeNextTurn<T>(promise: Promise<T>): Promise<T> {
  return orTimeout(promise, 0, 'a result within one turn of the microtask queue')
}

/** A value that must come at all. */
export function within<T>(promise: Promise<T>): Promise<T> {
  return orTimeout(promise, PATIENCE_MS, 'the reader to continue or to end')
}

async function orTimeout<T>(promise: Promise<T>, ms: number, expected: string): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const fail = (): void => reject(new ConformanceError(`expected ${expected}`))
  const cancel = systemClock.setTimer(ms, fail)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    cancel()
  }
}
