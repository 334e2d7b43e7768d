import { assertStorableIds } from '@helix-agents/core'
import type {
  SequencedChunk,
  StreamChunk,
  StreamManager,
  StreamReaderOptions,
  StreamWriter,
} from '@helix-agents/core'
import { MemoryStream, type StreamRun } from './memory-stream.ts'
import { MemoryStreamReader } from './memory-stream-reader.ts'

export interface InMemoryStreamManagerOptions {
  /**
   * Chunks kept of the current run of each stream. A reader that falls further behind gets a
   * `stream_resync`. Default 10 000.
   */
  readonly maxBufferedChunks?: number
}

const DEFAULT_MAX_BUFFERED_CHUNKS = 10_000

/**
 * Streams in the memory of the process. The chunks of a run are kept until the next run starts
 * or the stream is deleted, and no more of them than the buffer takes.
 */
export class InMemoryStreamManager implements StreamManager {
  readonly #streams = new Map<string, MemoryStream>()
  readonly #maxBufferedChunks: number

  /** @throws {RangeError} unless `maxBufferedChunks` is a whole number of at least 1. */
  constructor(options: InMemoryStreamManagerOptions = {}) {
    const { maxBufferedChunks = DEFAULT_MAX_BUFFERED_CHUNKS } = options
    if (!Number.isSafeInteger(maxBufferedChunks) || maxBufferedChunks < 1) {
      throw new RangeError(`maxBufferedChunks must be at least 1, not ${maxBufferedChunks}`)
    }
    this.#maxBufferedChunks = maxBufferedChunks
  }

  /** Starts a run on a stream: readers of an earlier run get `stream_resync` and read on. */
  async startRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    assertStorableIds(streamId, agentId, agentType)
    const run: StreamRun = { agentId, agentType }
    const existing = this.#streams.get(streamId)
    existing?.startRun(run)
    return createWriter(existing ?? this.#create(streamId, run), run)
  }

  /** Continues the current run on a stream: nothing is reset. */
  async resumeRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    assertStorableIds(streamId, agentId, agentType)
    const run: StreamRun = { agentId, agentType }
    const existing = this.#streams.get(streamId)
    existing?.resumeRun(run)
    return createWriter(existing ?? this.#create(streamId, run), run)
  }

  /** Ends the current run, or does nothing when it is not the given one any more. */
  async endRun(streamId: string, agentId?: string, last?: StreamChunk): Promise<void> {
    const stream = this.#streams.get(streamId)
    if (agentId === undefined || stream?.agentId === agentId) stream?.endRun(last)
  }

  /** Reads a stream to the end of its current run; `null` when there is no such stream. */
  async read(
    streamId: string,
    options: StreamReaderOptions = {},
  ): Promise<AsyncIterable<SequencedChunk> | null> {
    const stream = this.#streams.get(streamId)
    return stream === undefined ? null : new MemoryStreamReader(stream, options)
  }

  /** Forgets a stream; its readers end. */
  async deleteStream(streamId: string): Promise<void> {
    const stream = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    stream?.endRun()
  }

  #create(streamId: string, run: StreamRun): MemoryStream {
    const stream = new MemoryStream(this.#maxBufferedChunks, run)
    this.#streams.set(streamId, stream)
    return stream
  }
}

/** A run that ended, or that another writer took over, is not disturbed by late chunks. */
function createWriter(stream: MemoryStream, run: StreamRun): StreamWriter {
  return {
    write: async (chunk: StreamChunk) => {
      if (stream.isWrittenBy(run)) stream.write(chunk)
    },
  }
}
