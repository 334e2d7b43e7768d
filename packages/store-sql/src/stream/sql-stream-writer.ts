import type { StreamChunk, StreamWriter } from '@helix-agents/core/runtime'
import type { SqlStatements } from '../sql-database.ts'
import { toStateStoreError } from '../state/to-state-store-error.ts'
import { appendChunks } from './append-chunks.ts'
import { type ChunkText, toChunkText } from './chunk-text.ts'
import type { StreamLimits } from './stream-limits.ts'
import type { StreamChange, StreamQueue, StreamTask } from './stream-queue.ts'
import type { AcquiredStream } from './stream-rows.ts'

export interface SqlStreamWriterParts {
  readonly queue: StreamQueue
  readonly streamId: string
  readonly acquired: AcquiredStream
  readonly limits: StreamLimits
}

/** Writes the chunks of one run; those of one turn together. */
export class SqlStreamWriter implements StreamWriter {
  readonly #parts: SqlStreamWriterParts
  #append: AppendTask | undefined

  constructor(parts: SqlStreamWriterParts) {
    this.#parts = parts
  }

  write(chunk: StreamChunk): Promise<void> {
    const { queue, limits } = this.#parts
    if (this.#append === undefined || queue.last !== this.#append) {
      this.#append = new AppendTask(this.#parts)
      queue.add(this.#append)
    }
    return this.#append.add(toChunkText(chunk, limits.maxChunkBytes))
  }
}

/** Chunks that follow each other, and one promise for all of them. */
class AppendTask implements StreamTask {
  readonly #parts: SqlStreamWriterParts
  readonly #chunks: ChunkText[] = []
  readonly #done = Promise.withResolvers<void>()

  constructor(parts: SqlStreamWriterParts) {
    this.#parts = parts
  }

  get streamId(): string {
    return this.#parts.streamId
  }

  add(chunk: ChunkText): Promise<void> {
    this.#chunks.push(chunk)
    return this.#done.promise
  }

  run(sql: SqlStatements): StreamChange | undefined {
    const { acquired, limits } = this.#parts
    const appended = appendChunks(sql, acquired, this.#chunks, limits)
    return appended && { stream: acquired.stream, isReplaced: appended.hasDropped }
  }

  settle(): void {
    this.#done.resolve()
  }

  fail(error: unknown): void {
    this.#done.reject(toStateStoreError(error, this.#parts.streamId))
  }
}
