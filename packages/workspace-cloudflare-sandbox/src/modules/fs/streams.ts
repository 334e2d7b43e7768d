import { FileSystemError, HelixError } from '@helix-agents/core'
import { brokenContent } from '../../driver/driver-error.ts'
import { toWorkspaceError } from '../../lifecycle/map-error.ts'

/** A stream whose errors mean something to its reader. */
export function mapStreamErrors(
  stream: ReadableStream<Uint8Array>,
  path: string,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          signal?.throwIfAborted()
          const next = await reader.read()
          signal?.throwIfAborted()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        } catch (error) {
          // It has failed or is not wanted any more: how its end goes changes nothing.
          await Promise.allSettled([reader.cancel(error)])
          signal?.throwIfAborted()
          if (HelixError.isInstance(error)) throw error
          throw toWorkspaceError(brokenContent(error), path)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Content on its way to a file: counted, and its own failure kept apart from that of the file. */
export class LimitedSource {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #failure: unknown

  constructor(source: ReadableStream<Uint8Array>, path: string, maxBytes: number) {
    this.#reader = source.getReader()
    let bytes = 0
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const next = await this.#reader.read()
            if (next.done) return controller.close()
            bytes += next.value.length
            if (bytes > maxBytes) throw tooLarge(path, maxBytes)
            // A copy, which a slice of a `Buffer` is not: the source may use its memory again.
            controller.enqueue(Uint8Array.from(next.value))
          } catch (error) {
            this.#failure = error
            throw error
          }
        },
        cancel: (reason) => this.#reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** Why the content could not be read; undefined when it is not at fault. */
  get failure(): unknown {
    return this.#failure
  }

  /** Cancels the source. Never rejects. */
  async cancel(reason: unknown): Promise<void> {
    await Promise.allSettled([this.#reader.cancel(reason)])
  }
}

function tooLarge(path: string, maxBytes: number): FileSystemError {
  return new FileSystemError('too-large', path, { detail: `the limit is ${maxBytes} bytes` })
}
