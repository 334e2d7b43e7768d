import {
  type SequencedChunk,
  type StreamChunk,
  type StreamManager,
  type StreamReaderOptions,
  type StreamWriter,
  assertStorableIds,
} from '@helix-agents/core/runtime'
import type { SqlDatabase, SqlStatements } from '../sql-database.ts'
import { toStateStoreError } from '../state/to-state-store-error.ts'
import { toChunkText } from './chunk-text.ts'
import { endRun } from './end-run.ts'
import { PageReads } from './page-reads.ts'
import { SqlStreamReader } from './sql-stream-reader.ts'
import { SqlStreamWriter } from './sql-stream-writer.ts'
import {
  parseStreamLimits,
  type SqlStreamManagerOptions,
  type StreamLimits,
} from './stream-limits.ts'
import { StreamQueue } from './stream-queue.ts'
import {
  deleteStream,
  findStream,
  resumeRun,
  type RunNames,
  startRun,
  type AcquiredStream,
} from './stream-rows.ts'
import { StreamSignals } from './stream-signals.ts'

/**
 * Streams in a SQLite database that `migrate` has prepared. A chunk is committed before a reader
 * sees it; those that are written in one turn of the event loop share a transaction. Readers of
 * this process continue right after the commit, those of other processes soon after it. Only the
 * writer that was made last for a stream writes: the others' chunks reach no reader, also when they
 * live in another process.
 *
 * All methods throw `StateStoreError`: `unavailable` and `corrupt`.
 */
export class SqlStreamManager implements StreamManager {
  readonly #database: SqlDatabase
  readonly #signals: StreamSignals
  readonly #queue: StreamQueue
  readonly #limits: StreamLimits

  /** @throws {RangeError} for a limit that is no whole number, or too small. */
  constructor(database: SqlDatabase, options: SqlStreamManagerOptions = {}) {
    this.#database = database
    this.#limits = parseStreamLimits(options)
    this.#signals = StreamSignals.of(database)
    this.#queue = new StreamQueue(database, this.#signals)
  }

  /** Starts a run on a stream: readers of an earlier run get `stream_resync` and read on. */
  async startRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    return this.#acquire({ streamId, agentId, agentType }, startRun)
  }

  /** Continues the current run on a stream, after a pause or a crash: nothing is reset. */
  async resumeRun(streamId: string, agentId: string, agentType: string): Promise<StreamWriter> {
    return this.#acquire({ streamId, agentId, agentType }, resumeRun)
  }

  /** Ends the current run, or does nothing when it is not the given one any more. */
  async endRun(streamId: string, agentId?: string, last?: StreamChunk): Promise<void> {
    const limits = this.#limits
    const text = last === undefined ? undefined : toChunkText(last, limits.maxChunkBytes)
    const run = { streamId, agentId, last: text }
    await this.#change(streamId, (sql) => endRun(sql, run, limits))
  }

  /** Reads a stream to the end of its current run; `null` when there is no such stream. */
  async read(
    streamId: string,
    options: StreamReaderOptions = {},
  ): Promise<AsyncIterable<SequencedChunk> | null> {
    const head = await this.#find(streamId)
    if (head === undefined) return null
    return new SqlStreamReader({
      pages: PageReads.of(this.#database),
      signals: this.#signals,
      streamId,
      stream: head.id,
      position: toPosition(options.fromSequence ?? head.runStart),
      maxBufferedChunks: this.#limits.maxBufferedChunks,
      signal: options.signal,
    })
  }

  /** Forgets a stream; its readers end. */
  async deleteStream(streamId: string): Promise<void> {
    await this.#change(streamId, (sql) => deleteStream(sql, streamId))
  }

  async #find(streamId: string) {
    try {
      return await this.#database.read((sql) => findStream(sql, streamId))
    } catch (error) {
      throw toStateStoreError(error, streamId)
    }
  }

  async #acquire(
    names: RunNames,
    make: (sql: SqlStatements, names: RunNames) => AcquiredStream,
  ): Promise<StreamWriter> {
    assertStorableIds(names.streamId, names.agentId, names.agentType)
    let acquired: AcquiredStream | undefined
    await this.#change(names.streamId, (sql) => {
      acquired = make(sql, names)
      return acquired.stream
    })
    if (acquired === undefined) throw new TypeError('the database did not run the transaction')
    const { streamId } = names
    return new SqlStreamWriter({ queue: this.#queue, streamId, acquired, limits: this.#limits })
  }

  /** @param run makes the change; its result is the stream that changed, if one did */
  #change(streamId: string, run: (sql: SqlStatements) => number | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.add({
      streamId,
      run: (sql) => {
        const stream = run(sql)
        return stream === undefined ? undefined : { stream, isReplaced: true }
      },
      settle: resolve,
      fail: (error) => reject(toStateStoreError(error, streamId)),
    })
    return promise
  }
}

/** What is no sequence number is none that ever was. */
function toPosition(fromSequence: number): number {
  return Number.isSafeInteger(fromSequence) ? fromSequence : Number.MAX_SAFE_INTEGER
}
