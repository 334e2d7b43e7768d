import { timestamp } from '../server-sent-events.ts'

/** Most bytes of outputs that are kept for those who ask later; the real figure is not known. */
const RETAINED_BYTES = 32 * 1024 * 1024

/** How the first process of a command ended. */
export interface ProcessEnd {
  readonly code: number
  readonly signal?: number
  readonly timedOut: boolean
}

type LogEvent = Readonly<Record<string, unknown>>

/** What a process has printed, as events to be replayed and followed. */
export class RetainedLog {
  readonly #events: LogEvent[] = []
  #bytes = 0
  #isOver = false
  #grown = Promise.withResolvers<void>()

  add(type: 'stdout' | 'stderr', data: Buffer): void {
    this.#bytes += data.length
    if (this.#bytes > RETAINED_BYTES) this.#forget()
    this.#push({ type, data: Uint8Array.from(data) })
  }

  end(exit: ProcessEnd): void {
    this.#isOver = true
    this.#push({ type: 'terminal', state: 'exited', exit })
  }

  /** From the beginning to the end of the process, or to now. */
  stream(options: { readonly follow?: boolean }): ReadableStream<LogEvent> {
    let at = 0
    return new ReadableStream({
      pull: async (controller) => {
        while (at >= this.#events.length && !this.#isOver && options.follow === true) {
          // oxlint-disable-next-line no-await-in-loop -- until something was printed
          await this.#grown.promise
        }
        const next = this.#events[at]
        at += 1
        if (next === undefined) controller.close()
        else controller.enqueue(next)
      },
    })
  }

  #push(event: LogEvent): void {
    this.#events.push({ ...event, cursor: String(this.#events.length), timestamp: timestamp() })
    this.#grown.resolve()
    this.#grown = Promise.withResolvers()
  }

  #forget(): void {
    this.#bytes = 0
    this.#events.splice(0, this.#events.length, { type: 'truncated', timestamp: timestamp() })
  }
}
