import type { Clock } from '@helix-agents/core'
import { createOpenLimit, type OpenLimit } from '@helix-agents/core/provider'
import { DriverError } from '../driver/driver-error.ts'
import { isCapacityError } from './map-error.ts'

/** The platform names no time. */
const DEFAULT_PAUSE_MS = 2000
const MAX_PAUSE_MS = 60_000

/**
 * Bounds opens over all sessions of a provider, and slows down when the platform is full: after
 * an open that found no room, others wait as long as was asked for and go one at a time, until
 * one of them succeeds. So a storm of opens does not use up what becomes free.
 */
export class OpenGate {
  readonly #limit: OpenLimit
  readonly #oneByOne = createOpenLimit(1)
  #pausedUntilMs: number | undefined
  #refusals = 0

  /**
   * @param max undefined: no bound while there is room.
   * @throws {WorkspaceFailedError} `config-invalid` when it is not a positive whole number.
   */
  constructor(max: number | undefined) {
    this.#limit = createOpenLimit(max)
  }

  run<T>(open: () => Promise<T>, wait: { signal: AbortSignal; clock: Clock }): Promise<T> {
    return this.#limit(() => this.#pass(open, wait), wait.signal)
  }

  async #pass<T>(open: () => Promise<T>, wait: { signal: AbortSignal; clock: Clock }): Promise<T> {
    if (this.#pausedUntilMs === undefined) return this.#attempt(open, wait.clock)
    return this.#oneByOne(async () => {
      const pauseMs = (this.#pausedUntilMs ?? 0) - wait.clock.now()
      if (pauseMs > 0) await wait.clock.sleep(pauseMs, wait.signal)
      return this.#attempt(open, wait.clock)
    }, wait.signal)
  }

  async #attempt<T>(open: () => Promise<T>, clock: Clock): Promise<T> {
    try {
      const opened = await open()
      this.#pausedUntilMs = undefined
      this.#refusals = 0
      return opened
    } catch (error) {
      if (isCapacityError(error)) this.#slowDown(error, clock)
      throw error
    }
  }

  #slowDown(error: unknown, clock: Clock): void {
    const asked = error instanceof DriverError ? error.retryAfterMs : undefined
    const pauseMs = asked ?? DEFAULT_PAUSE_MS * 2 ** this.#refusals
    this.#refusals += 1
    this.#pausedUntilMs = clock.now() + Math.min(pauseMs, MAX_PAUSE_MS)
  }
}
