import { DriverError } from '../driver-error.ts'

/** A stream of bytes that crosses from one object to another: those of a response can. */
export function bytesStream(data: Uint8Array): ReadableStream<Uint8Array> {
  return new Blob([Uint8Array.from(data)]).stream()
}

/**
 * The part of a stream from `offset` on.
 * @throws {DriverError} `interrupted`, by the stream, when it ends too early.
 */
export function sliceStream(
  source: ReadableStream<Uint8Array>,
  offset: number,
  lengthBytes: number,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let [skip, left] = [offset, lengthBytes]
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      while (left > 0) {
        const { done, value } = await reader.read()
        if (done) return controller.error(cutShort())
        const part = value.subarray(Math.min(skip, value.length)).subarray(0, left)
        skip -= Math.min(skip, value.length)
        if (part.length === 0) continue
        left -= part.length
        return controller.enqueue(part)
      }
      await reader.cancel()
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Passes a stream on as one that may cross to another object, counts it and notices when it fails. */
export function watchStream(source: ReadableStream<Uint8Array>): {
  readonly stream: ReadableStream<Uint8Array>
  /** Bytes that have been passed on. */
  passedBytes(): number
  /** Throws what the source failed with. */
  throwIfFailed(): void
} {
  const reader = source.getReader()
  let failure: { readonly reason: unknown } | undefined
  let bytes = 0
  const stream = new ReadableStream({
    type: 'bytes',
    pull: async (controller) => {
      try {
        let next = await reader.read()
        // There is no second pull after one that brought nothing.
        while (!next.done && next.value.length === 0) next = await reader.read()
        if (next.done) return closeBytes(controller)
        bytes += next.value.length
        controller.enqueue(Uint8Array.from(next.value))
      } catch (reason) {
        failure = { reason }
        throw reason
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const throwIfFailed = (): void => {
    if (failure !== undefined) throw failure.reason
  }
  return { stream, passedBytes: () => bytes, throwIfFailed }
}

/** A reader that brought its own buffer gets it back empty. */
function closeBytes(controller: ReadableByteStreamController): void {
  controller.close()
  controller.byobRequest?.respond(0)
}

function cutShort(): DriverError {
  return new DriverError('interrupted', 'the file changed while it was read', { admitted: 'yes' })
}
