import { ModelError } from '@helix-agents/core'
import type { AdapterSettings } from './adapter-options.ts'

/**
 * What stops one attempt: the signal of the run, and two times of its own. Whoever waits for the
 * provider leaves at once; the request is ended by `abort`.
 */
export class AttemptSignal {
  readonly #own = new AbortController()
  readonly #settings: AdapterSettings
  readonly #outer: AbortSignal
  readonly #stopped = Promise.withResolvers<never>()
  readonly #startedAt: number
  #touchedAt: number
  #cancelTimer: () => void = () => {}
  #timedOut: ModelError | undefined

  constructor(outer: AbortSignal, settings: AdapterSettings) {
    this.#outer = outer
    this.#settings = settings
    this.#startedAt = settings.clock.now()
    this.#touchedAt = this.#startedAt
    // Read through `race` only: a stop without a waiter is no error.
    this.#stopped.promise.catch((error: unknown) => error)
    outer.addEventListener('abort', this.#onAbort, { once: true })
    this.#arm()
  }

  /** For the provider. */
  get signal(): AbortSignal {
    return this.#own.signal
  }

  /** Set once the time was up. */
  get timedOut(): ModelError | undefined {
    return this.#timedOut
  }

  /** The provider has said something. */
  touch(): void {
    this.#touchedAt = this.#settings.clock.now()
  }

  /** Settles as the promise does, or rejects when the attempt is stopped. */
  race<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#stopped.promise])
  }

  /** Ends the request, if it is still going on. */
  abort(reason: unknown): void {
    this.#own.abort(reason)
  }

  release(): void {
    this.#cancelTimer()
    this.#outer.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => this.#stop(this.#outer.reason)

  /** One timer for both times; words of the provider in between only move it. */
  #arm(): void {
    const restMs = this.#dueAt() - this.#settings.clock.now()
    if (restMs > 0) {
      this.#cancelTimer = this.#settings.clock.setTimer(restMs, () => this.#arm())
      return
    }
    this.#timedOut = new ModelError('timeout')
    this.#stop(this.#timedOut)
  }

  #dueAt(): number {
    const { idleTimeoutMs, attemptTimeoutMs } = this.#settings
    return Math.min(this.#touchedAt + idleTimeoutMs, this.#startedAt + attemptTimeoutMs)
  }

  #stop(reason: unknown): void {
    this.#stopped.reject(reason)
  }
}
