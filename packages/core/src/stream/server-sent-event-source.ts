import { settled, untilAborted } from '../time/abort.ts'
import type { Clock } from '../time/clock.ts'
import type { SequencedChunk } from './chunks.ts'
import { encodeServerSentEvent } from './server-sent-event.ts'

type Controller = ReadableStreamDefaultController<Uint8Array>

/** Starts to read a stream. `signal` aborts when the reader of the events has left. */
export type ReadChunks = (
  signal: AbortSignal,
) => AsyncIterable<SequencedChunk> | Promise<AsyncIterable<SequencedChunk> | null>

export interface ServerSentEventSourceParts {
  readonly read: ReadChunks
  readonly heartbeatMs: number
  readonly retryMs: number
  readonly signal: AbortSignal | undefined
  readonly onEnd: (() => void) | undefined
  readonly clock: Clock
}

const HEARTBEAT = ': still here\n\n'
const END = 'event: end\ndata: {}\n\n'

/**
 * The source of a `ReadableStream`, the body of one client: each pull reads one chunk and enqueues
 * one whole event. It does not name the type of a source: that is only in the types of browsers.
 */
export class ServerSentEventSource {
  readonly #parts: ServerSentEventSourceParts
  readonly #encoder = new TextEncoder()
  readonly #abort = new AbortController()
  #iterator: AsyncIterator<SequencedChunk> | undefined
  #begun = false

  constructor(parts: ServerSentEventSourceParts) {
    this.#parts = parts
    const { onEnd } = parts
    if (onEnd !== undefined) this.#abort.signal.addEventListener('abort', onEnd)
  }

  async pull(controller: Controller): Promise<void> {
    if (!this.#begun) return this.#begin(controller)
    const stopHeartbeat = this.#startHeartbeat(controller)
    try {
      const result = await untilAborted(this.#next(), this.#abort.signal)
      if (result.done === true) this.#finish(controller)
      else this.#send(controller, encodeServerSentEvent(result.value))
    } catch (error) {
      if (this.#abort.signal.aborted) return
      this.#abort.abort()
      throw error
    } finally {
      stopHeartbeat()
    }
  }

  /** The client has left. */
  cancel(reason: unknown): void {
    this.#leave(reason)
  }

  /** The first bytes go out at once, so that the client knows it is connected. */
  #begin(controller: Controller): void {
    this.#begun = true
    this.#send(controller, `retry: ${this.#parts.retryMs}\n\n`)
    const { signal } = this.#parts
    const stop = (): void => {
      controller.close()
      this.#leave(signal?.reason)
    }
    if (signal?.aborted === true) return stop()
    signal?.addEventListener('abort', stop, { signal: this.#abort.signal })
  }

  async #next(): Promise<IteratorResult<SequencedChunk, unknown>> {
    if (this.#iterator === undefined) {
      const chunks = await this.#parts.read(this.#abort.signal)
      if (chunks === null || this.#abort.signal.aborted) return { done: true, value: undefined }
      this.#iterator = chunks[Symbol.asyncIterator]()
    }
    return this.#iterator.next()
  }

  #finish(controller: Controller): void {
    this.#send(controller, END)
    controller.close()
    this.#abort.abort()
  }

  #leave(reason: unknown): void {
    this.#abort.abort(reason)
    void settled(this.#iterator?.return?.())
  }

  #send(controller: Controller, text: string): void {
    controller.enqueue(this.#encoder.encode(text))
  }

  /** A client that does not read gets no heartbeats: one that waits to be read is enough. */
  #startHeartbeat(controller: Controller): () => void {
    const { clock, heartbeatMs } = this.#parts
    let cancel: (() => void) | undefined
    const arm = (): void => {
      cancel = clock.setTimer(heartbeatMs, () => {
        if (controller.desiredSize === 0) this.#send(controller, HEARTBEAT)
        arm()
      })
    }
    arm()
    return () => cancel?.()
  }
}
