import type { Clock } from '@helix-agents/core'
import { SqlError } from '@helix-agents/store-sql'

/** The first waits are short: most locks are held for less than a millisecond. */
const FIRST_DELAY_MS = 1
const MAX_DELAY_MS = 50

interface Attempt {
  /** Runs the work; false when the lock is still held by another connection. */
  readonly tryRun: () => boolean
  readonly giveUp: (error: unknown) => void
  readonly deadline: number
}

export interface LockQueueOptions {
  readonly clock: Clock
  /** How long a call waits for the lock. */
  readonly busyTimeoutMs: number
}

/**
 * Runs work that needs a lock of the file. Work that gets it runs at once, within the call. When
 * another connection holds it, the call waits without blocking the event loop, and later calls
 * wait behind it: the order stays that of the calls.
 */
export class LockQueue {
  readonly #options: LockQueueOptions
  readonly #waiting: Attempt[] = []
  readonly #stop = new AbortController()

  constructor(options: LockQueueOptions) {
    this.#options = options
  }

  /** @throws {SqlError} `busy` when the lock was not free in time, else what `work` throws. */
  run<T>(work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const tryRun = (): boolean => {
      try {
        resolve(work())
        return true
      } catch (error) {
        if (isBusy(error)) return false
        reject(error)
        return true
      }
    }
    if (this.#waiting.length === 0 && tryRun()) return promise
    const deadline = this.#options.clock.now() + this.#options.busyTimeoutMs
    this.#waiting.push({ tryRun, giveUp: reject, deadline })
    if (this.#waiting.length === 1) void this.#drain()
    return promise
  }

  /** Ends what waits with an error; nothing may be run after it. */
  close(reason: SqlError): void {
    this.#stop.abort(reason)
  }

  /** Serves the calls that wait, the oldest first; never rejects. */
  async #drain(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const outcome = await this.#serve(first).catch((error: unknown) => ({ error }))
      if (outcome !== undefined) first.giveUp(outcome.error)
      this.#waiting.shift()
    }
  }

  /** Tries until the lock was free or the time is up. @throws {SqlError} `busy`, `closed` */
  async #serve(attempt: Attempt): Promise<undefined> {
    const { clock } = this.#options
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      this.#stop.signal.throwIfAborted()
      if (attempt.tryRun()) return undefined
      const leftMs = attempt.deadline - clock.now()
      if (leftMs <= 0) throw new SqlError('busy', 'the lock was not free in time')
      await clock.sleep(Math.min(delayMs, leftMs), this.#stop.signal)
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof SqlError && error.kind === 'busy'
}
