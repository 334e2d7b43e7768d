/** The writing end of a stream of bytes that knows when its reader is behind. */
export interface EventSink {
  /** Returns false when the reader is behind. */
  write(bytes: Uint8Array): boolean
  end(): void
  /** Whether it still has a reader. */
  readonly open: boolean
}

export interface EventStreamHooks {
  /** The reader has room again. */
  onRoom?(): void
  /** The reader went away, or the connection to it. */
  onCancel?(): void
}

/**
 * A stream of bytes and the end to write to.
 * @param closed - Aborted when the reader can read no more; a quiet stream would not notice.
 */
export function eventStream(
  closed: AbortSignal,
  hooks: EventStreamHooks = {},
): {
  readonly stream: ReadableStream<Uint8Array>
  readonly sink: EventSink
} {
  const ended = new AbortController()
  const sink = new ControllerSink(() => ended.abort())
  const leave = (): void => {
    if (!sink.open) return
    sink.detach()
    hooks.onCancel?.()
  }
  closed.addEventListener('abort', leave, { signal: ended.signal })
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => sink.attach(controller),
      pull: () => hooks.onRoom?.(),
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 256 * 1024 }),
  )
  return { stream, sink }
}

class ControllerSink implements EventSink {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #onEnd: () => void

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  get open(): boolean {
    return this.#controller !== undefined
  }

  attach(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller
  }

  detach(): void {
    this.#controller = undefined
    this.#onEnd()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#controller === undefined) return true
    this.#controller.enqueue(bytes)
    return (this.#controller.desiredSize ?? 0) > 0
  }

  end(): void {
    this.#controller?.close()
    this.detach()
  }
}
