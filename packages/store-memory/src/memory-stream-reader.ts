import type { SequencedChunk, StreamReaderOptions } from '@helix-agents/core/runtime'
import type { MemoryStream, WaitingReader } from './memory-stream.ts'

type Result = IteratorResult<SequencedChunk, undefined>

const DONE: Result = { done: true, value: undefined }

/**
 * Follows one stream. A chunk is handed to a waiting consumer by the write itself: the consumer
 * continues with the next microtask, and nothing polls.
 */
export class MemoryStreamReader
  implements AsyncIterable<SequencedChunk>, AsyncIterator<SequencedChunk, undefined>, WaitingReader
{
  readonly #stream: MemoryStream
  readonly #signal: AbortSignal | undefined
  #position: number
  #ended = false
  #listens = false
  /** Calls of `next` that wait, in their order. */
  readonly #pending: ((result: Result) => void)[] = []

  constructor(stream: MemoryStream, options: StreamReaderOptions) {
    this.#stream = stream
    this.#position = toPosition(options.fromSequence ?? stream.runStart)
    this.#signal = options.signal
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    const result = this.#pending.length === 0 ? this.#take() : undefined
    if (result !== undefined) return Promise.resolve(result)
    return new Promise((resolve) => {
      this.#pending.push(resolve)
      this.#wait()
    })
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve(DONE)
  }

  wake(): void {
    while (this.#pending.length > 0) {
      const result = this.#take()
      if (result === undefined) return this.#wait()
      this.#pending.shift()?.(result)
    }
  }

  /** `undefined` when the consumer has to wait. */
  #take(): Result | undefined {
    if (this.#signal?.aborted) this.#end()
    if (this.#ended) return DONE
    const taken = this.#stream.take(this.#position)
    if (taken === 'wait') return undefined
    if (taken === 'end') {
      this.#end()
      return DONE
    }
    this.#position = taken.sequence + 1
    return { done: false, value: taken }
  }

  #wait(): void {
    this.#stream.whenChanged(this)
    if (this.#listens || this.#signal === undefined) return
    this.#listens = true
    this.#signal.addEventListener('abort', this.#end, { once: true })
  }

  readonly #end = (): void => {
    if (this.#ended) return
    this.#ended = true
    this.#stream.forget(this)
    this.#signal?.removeEventListener('abort', this.#end)
    for (const resolve of this.#pending.splice(0)) resolve(DONE)
  }
}

/** What is no sequence number is none that ever was. */
function toPosition(fromSequence: number): number {
  return Number.isSafeInteger(fromSequence) ? fromSequence : Number.MAX_SAFE_INTEGER
}
