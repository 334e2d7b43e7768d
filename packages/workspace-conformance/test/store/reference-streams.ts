import {
  assertStorableIds,
  cutChunk,
  toChunkJson,
  type SequencedChunk,
  type StreamChunk,
  type StreamManager,
  type StreamReaderOptions,
  type StreamWriter,
} from '@helix-agents/core/runtime'

interface Run {
  readonly agentId: string
  readonly agentType: string
}

export interface ReferenceStream {
  chunks: SequencedChunk[]
  first: number
  next: number
  run: Run
  open: boolean
  /** Renewed with every change. */
  changed: PromiseWithResolvers<void>
}

export interface ReferenceStreams extends StreamManager {
  readonly streams: Map<string, ReferenceStream>
}

/** The simplest stream manager that keeps the contract; saboteurs break one method of it. */
export function createReferenceStreams(
  maxBufferedChunks: number,
  streams = new Map<string, ReferenceStream>(),
): ReferenceStreams {
  const writerOf = (stream: ReferenceStream, run: Run): StreamWriter => ({
    write: async (chunk) => {
      if (stream.run !== run || !stream.open) return
      stream.chunks = [...stream.chunks, { ...cut(chunk), sequence: stream.next++ }]
      stream.chunks = stream.chunks.slice(-maxBufferedChunks)
      wake(stream)
    },
  })
  const resumeRun: StreamManager['resumeRun'] = async (streamId, agentId, agentType) => {
    assertStorableIds(streamId, agentId, agentType)
    const run = { agentId, agentType }
    const changed = Promise.withResolvers<void>()
    const fresh = { chunks: [], first: 1, next: 1, run, open: true, changed }
    const stream = streams.get(streamId) ?? fresh
    streams.set(streamId, stream)
    Object.assign(stream, { run, open: true })
    wake(stream)
    return writerOf(stream, run)
  }
  return {
    streams,
    resumeRun,
    startRun: async (streamId, agentId, agentType) => {
      assertStorableIds(streamId, agentId, agentType)
      const stream = streams.get(streamId)
      if (stream !== undefined) {
        stream.chunks = []
        stream.first = ++stream.next
      }
      return resumeRun(streamId, agentId, agentType)
    },
    endRun: async (streamId, agentId, last) => {
      const stream = streams.get(streamId)
      const isCurrent = agentId === undefined || stream?.run.agentId === agentId
      if (last !== undefined && stream !== undefined && isCurrent) {
        void writerOf(stream, stream.run).write(last)
      }
      if (agentId === undefined || stream?.run.agentId === agentId) end(stream)
    },
    read: async (streamId, options) => {
      const stream = streams.get(streamId)
      return stream === undefined ? null : readerOf(stream, options)
    },
    deleteStream: async (streamId) => {
      end(streams.get(streamId))
      streams.delete(streamId)
    },
  }
}

/** Any chunk becomes one that fits. */
function cut(chunk: StreamChunk): StreamChunk {
  if (chunk.type !== 'custom' && chunk.type !== 'text_delta') return chunk
  const json = toChunkJson(chunk)
  return JSON.parse(json.length > 1_000_000 ? cutChunk(json, 1_000_000) : json)
}

function end(stream: ReferenceStream | undefined): void {
  if (stream === undefined) return
  stream.open = false
  wake(stream)
}

function wake(stream: ReferenceStream): void {
  stream.changed.resolve()
  stream.changed = Promise.withResolvers<void>()
}

async function* readerOf(
  stream: ReferenceStream,
  { fromSequence, signal }: StreamReaderOptions = {},
): AsyncGenerator<SequencedChunk> {
  // A reader that names no sequence starts where the run is when it first asks.
  let position = fromSequence ?? stream.first
  const aborted = Promise.withResolvers<void>()
  signal?.addEventListener('abort', () => aborted.resolve())
  for (;;) {
    if (signal?.aborted === true) return
    const chunk = chunkAt(stream, position)
    if (chunk !== undefined) {
      position = chunk.sequence + 1
      yield chunk
    } else if (stream.open) {
      await Promise.race([stream.changed.promise, aborted.promise])
    } else {
      return
    }
  }
}

function chunkAt(stream: ReferenceStream, position: number): SequencedChunk | undefined {
  const { chunks, first, next, run } = stream
  const kept = chunks[0]?.sequence ?? next
  const base = { ...run, type: 'stream_resync', timestamp: 0, nextSequence: kept } as const
  const sequence = kept - 1
  if (position > next) return { ...base, reason: 'new-run', sequence }
  if (position < first && first > 1) return { ...base, reason: 'new-run', sequence }
  if (position < kept) return { ...base, reason: 'buffer-overrun', sequence }
  return chunks[position - kept]
}
