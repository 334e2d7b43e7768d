import type { SequencedChunk } from '@helix-agents/core/runtime'
import { toStateStoreError } from '../state/to-state-store-error.ts'
import type { PageReads } from './page-reads.ts'
import type { PageResult, StoredChunk } from './read-page.ts'
import type { StreamSignals, WaitingReader } from './stream-signals.ts'

type Result = IteratorResult<SequencedChunk, undefined>

const DONE: Result = { done: true, value: undefined }

export interface SqlStreamReaderParts {
  readonly pages: PageReads
  readonly signals: StreamSignals
  readonly streamId: string
  readonly stream: number
  readonly position: number
  readonly maxBufferedChunks: number
  readonly signal: AbortSignal | undefined
}

/**
 * Follows one stream a page at a time. It knows nothing but its position and one page; when it
 * has everything, it waits for a change.
 */
export class SqlStreamReader
  implements AsyncIterable<SequencedChunk>, AsyncIterator<SequencedChunk, undefined>, WaitingReader
{
  readonly #parts: SqlStreamReaderParts
  #position: number
  /** Chunks that were read, the next one last. */
  #page: StoredChunk[] = []
  /** The page is current as long as nothing was replaced since. */
  #pageReplacements = 0
  /** It has read all there was, and would have been woken by more. */
  #isAtEnd = false
  #isWoken = false
  #ended = false
  #answers = false
  /** Calls of `next` that wait, in their order. */
  readonly #pending: PromiseWithResolvers<Result>[] = []

  constructor(parts: SqlStreamReaderParts) {
    this.#parts = parts
    this.#position = parts.position
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#parts.signal?.aborted) this.#end()
    if (this.#ended) return Promise.resolve(DONE)
    const call = Promise.withResolvers<Result>()
    if (this.#pending.push(call) === 1) {
      this.#parts.signal?.addEventListener('abort', this.#end)
      if (!this.#answers) void this.#answer()
    }
    return call.promise
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve(DONE)
  }

  wake(): void {
    this.#isWoken = true
    this.#isAtEnd = false
    if (!this.#answers) void this.#answer()
  }

  /** Answers the calls that wait, as far as there are chunks. */
  async #answer(): Promise<void> {
    this.#answers = true
    try {
      while (this.#pending.length > 0) {
        const result = this.#takeCurrent() ?? (await this.#readMore())
        if (result !== undefined) this.#settle(result)
        else if (!this.#isWoken) break
      }
    } catch (error) {
      this.#pending.shift()?.reject(toStateStoreError(error, this.#parts.streamId))
      this.#end()
    } finally {
      this.#answers = false
    }
  }

  #settle(result: Result): void {
    if (result.done === true) return this.#end()
    this.#pending.shift()?.resolve(result)
    if (this.#pending.length === 0) this.#parts.signal?.removeEventListener('abort', this.#end)
  }

  #takeCurrent(): Result | undefined {
    return this.#pageReplacements === this.#parts.signals.replacements ? this.#take() : undefined
  }

  #take(): Result | undefined {
    const held = this.#page.pop()
    if (held?.sequence !== this.#position) return undefined
    this.#position++
    return { done: false, value: held.chunk }
  }

  /** `undefined` when there is nothing yet, and a change will wake this reader. */
  async #readMore(): Promise<Result | undefined> {
    const hasAll = this.#isAtEnd && this.#page.length === 0
    return hasAll ? undefined : this.#readNext()
  }

  async #readNext(): Promise<Result | undefined> {
    const { pages, signals, stream, maxBufferedChunks } = this.#parts
    // Before the read: a change that it does not see wakes this reader.
    this.#isWoken = false
    signals.wait(stream, this)
    const replacements = signals.replacements
    const isHeld = this.#page.at(-1)?.sequence === this.#position
    const request = { stream, position: this.#position, isHeld, maxBufferedChunks }
    const result = await pages.read(request)
    if (this.#ended) return DONE
    this.#isAtEnd = !this.#isWoken && hasNoMore(result)
    if (result.kind === 'wait') return undefined
    this.#pageReplacements = replacements
    return this.#use(result)
  }

  #use(result: Exclude<PageResult, { kind: 'wait' }>): Result | undefined {
    if (result.kind === 'end') return DONE
    if (result.kind === 'resync') {
      this.#page = []
      this.#position = result.chunk.sequence + 1
      return { done: false, value: result.chunk }
    }
    if (result.kind === 'page') {
      this.#page = result.chunks.toReversed()
      this.#position = result.chunks[0]?.sequence ?? this.#position
    }
    return this.#take()
  }

  readonly #end = (): void => {
    if (this.#ended) return
    this.#ended = true
    this.#page = []
    const { signals, stream, signal } = this.#parts
    signals.forget(stream, this)
    signal?.removeEventListener('abort', this.#end)
    for (const { resolve } of this.#pending.splice(0)) resolve(DONE)
  }
}

function hasNoMore(result: PageResult): boolean {
  return result.kind === 'wait' || (result.kind === 'page' && result.isLast)
}
