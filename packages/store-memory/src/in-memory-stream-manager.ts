import {
  assertStorableIds,
  type SequencedChunk,
  type StreamChunk,
  type StreamManager,
  type StreamReaderOptions,
  type StreamWriter,
} from '@helix-agents/core/runtime'
import { MemoryStream, type StreamRun } from './memory-stream.ts'
import { MemoryStreamReader } from './memory-stream-reader.ts'
import {
  type InMemoryStreamManagerOptions,
  parseStreamBounds,
  type StreamBounds,
} from './stream-bounds.ts'

/**
 * Streams in the memory of the process. The chunks of a run are kept until the next run starts
 * or the stream is deleted, and no more of them than the bounds allow; of runs that have ended,
 * those that ended last.
 */
export class InMemoryStreamManager implements StreamManager {
  readonly #streams = new Map<string, MemoryStream>()
  readonly #bounds: StreamBounds
  /** Bytes of streams whose run has ended; the one that ended first is first. */
  readonly #ended = new Map<MemoryStream, number>()
  #endedBytes = 0

  /** @throws {RangeError} for a bound that is no whole number, or too small. */
  constructor(options: InMemoryStreamManagerOptions = {}) {
    this.#bounds = parseStreamBounds(options)
  }

  /** Starts a run on a stream: readers of an earlier run get `stream_resync` and read on. */
  async startRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    assertStorableIds(streamId, agentId, agentType)
    const run: StreamRun = { agentId, agentType }
    const existing = this.#streams.get(streamId)
    this.#takeBack(existing)
    existing?.startRun(run)
    return createWriter(existing ?? this.#create(streamId, run), run)
  }

  /** Continues the current run on a stream: nothing is reset. */
  async resumeRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    assertStorableIds(streamId, agentId, agentType)
    const run: StreamRun = { agentId, agentType }
    const existing = this.#streams.get(streamId)
    this.#takeBack(existing)
    existing?.resumeRun(run)
    return createWriter(existing ?? this.#create(streamId, run), run)
  }

  /** Ends the current run, or does nothing when it is not the given one any more. */
  async endRun(streamId: string, agentId?: string, last?: StreamChunk): Promise<void> {
    const stream = this.#streams.get(streamId)
    if (stream === undefined || (agentId !== undefined && stream.agentId !== agentId)) return
    stream.endRun(last)
    this.#setAside(stream)
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
    if (stream === undefined) return
    this.#takeBack(stream)
    stream.endRun()
  }

  /** Keeps an ended stream among the others; those that ended first lose their chunks. */
  #setAside(stream: MemoryStream): void {
    this.#takeBack(stream)
    this.#ended.set(stream, stream.bytes)
    this.#endedBytes += stream.bytes
    for (const [oldest] of this.#ended) {
      if (this.#endedBytes <= this.#bounds.maxEndedBytes) return
      this.#takeBack(oldest)
      oldest.dropChunks()
    }
  }

  /** The stream is no ended one any more. */
  #takeBack(stream: MemoryStream | undefined): void {
    if (stream === undefined) return
    this.#endedBytes -= this.#ended.get(stream) ?? 0
    this.#ended.delete(stream)
  }

  #create(streamId: string, run: StreamRun): MemoryStream {
    const stream = new MemoryStream(this.#bounds, run)
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
