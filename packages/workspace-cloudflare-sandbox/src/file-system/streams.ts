import { FileSystemError, HelixError } from '@helix-agents/core'
import { DriverError } from '../driver/driver-error.ts'
import { toWorkspaceError } from '../map-error.ts'

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
          throw signal?.aborted ? error : toWorkspaceError(asDriverError(error), path)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** A stream that breaks on its way has an error of the platform. */
function asDriverError(error: unknown): unknown {
  if (HelixError.isInstance(error) || error instanceof DriverError) return error
  const detail = 'the content did not arrive as a whole'
  return new DriverError('interrupted', detail, { admitted: 'unknown', cause: error })
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
            // A copy: the source may use its buffer again.
            if (next.value.length > 0) controller.enqueue(next.value.slice())
            else controller.enqueue(EMPTY)
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

  /** Tells the source that nobody reads on. Never rejects. */
  async cancel(reason: unknown): Promise<void> {
    await Promise.allSettled([this.#reader.cancel(reason)])
  }
}

const EMPTY = new Uint8Array()

function tooLarge(path: string, maxBytes: number): FileSystemError {
  return new FileSystemError('too-large', path, { detail: `the limit is ${maxBytes} bytes` })
}
