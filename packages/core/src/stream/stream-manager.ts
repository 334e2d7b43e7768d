import type { SequencedChunk, StreamChunk } from './chunks.ts'

/** Where a reader of a stream starts, and what ends it. */
export interface StreamReaderOptions {
  /**
   * First sequence number wanted. Default: the first chunk of the current run. One that is not
   * there any more, or never was, gives a `stream_resync` first.
   */
  readonly fromSequence?: number
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal
}

/** Writes the chunks of one run. */
export interface StreamWriter {
  /**
   * Appends a chunk. Readers that wait see it within one turn of the microtask queue. After the
   * end of the run, or once another writer was made for the stream, the chunk is dropped.
   */
  write(chunk: StreamChunk): Promise<void>
}

/**
 * Ordered streams with readers that can resume. A stream belongs to a session and outlives its
 * runs; its buffer is bounded, and a reader that fell behind gets a `stream_resync`.
 */
export interface StreamManager {
  /** Starts a run on a stream: readers of an earlier run get `stream_resync` and read on. */
  startRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter>
  /** Continues the current run on a stream, after a pause or a crash: nothing is reset. */
  resumeRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter>
  /**
   * Ends the current run: readers end after the last chunk. With an `agentId` only when that run
   * is still the current one. `last` becomes its last chunk, in one step with the end: a run
   * that has ended gets none, so that several callers may try.
   */
  endRun(streamId: string, agentId?: string, last?: StreamChunk): Promise<void>
  /** Reads a stream to the end of its current run; `null` when there is no such stream. */
  read(
    streamId: string,
    options?: StreamReaderOptions,
  ): Promise<AsyncIterable<SequencedChunk> | null>
  deleteStream(streamId: string): Promise<void>
}
