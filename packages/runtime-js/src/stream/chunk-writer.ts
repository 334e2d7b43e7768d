import type { Clock, Logger } from '@helix-agents/core'
import type { ChunkType, StreamChunk, StreamWriter } from '@helix-agents/core/runtime'

type ChunkOf<T extends ChunkType> = Extract<StreamChunk, { readonly type: T }>
type ChunkFields<T extends ChunkType> = Omit<
  ChunkOf<T>,
  'type' | 'agentId' | 'agentType' | 'timestamp'
>

/** Where the chunks of a sub-agent go as well. */
export interface ChunkForward {
  send(chunk: StreamChunk): void
  flush(): Promise<void>
}

export interface ChunkWriterOptions {
  readonly writer: StreamWriter
  readonly agentId: string
  readonly agentType: string
  readonly clock: Clock
  readonly logger: Logger
  /** Gets the chunks too: the stream of the parent of a sub-agent. */
  readonly forward?: ChunkForward
}

/**
 * Writes the chunks of a run in the order in which they happen. The stream is for watching: a
 * stream that fails is logged once and does not stop the run.
 */
export class ChunkWriter {
  readonly #options: ChunkWriterOptions
  #last: Promise<void> = Promise.resolve()
  #failed = false

  constructor(options: ChunkWriterOptions) {
    this.#options = options
  }

  emit<T extends ChunkType>(type: T, fields: ChunkFields<T>): void {
    const { agentId, agentType, clock } = this.#options
    const base = { type, agentId, agentType, timestamp: clock.now() }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the base and the rest make the whole
    this.send({ ...base, ...fields } as unknown as StreamChunk)
  }

  /** Writes a chunk as it is. */
  send(chunk: StreamChunk): void {
    try {
      this.#last = this.#options.writer.write(chunk).catch(this.#onError)
    } catch (error) {
      this.#onError(error)
    }
    this.#options.forward?.send(chunk)
  }

  /** Waits for what was written: keeps a run from running ahead of a slow stream. */
  flush(): Promise<void> {
    const { forward } = this.#options
    return forward === undefined ? this.#last : this.#last.then(() => forward.flush())
  }

  readonly #onError = (error: unknown): void => {
    if (this.#failed) return
    this.#failed = true
    this.#options.logger.error(
      { err: error, agent: this.#options.agentType },
      'stream write failed',
    )
  }
}
