import { type Clock, systemClock } from '@helix-agents/core'

/** A clock that can go faster than that of the machine: long deadlines pass in a short test. */
export class PacedClock implements Clock {
  #pace: number
  #originMs = systemClock.now()
  #shownMs = this.#originMs

  constructor(pace: number) {
    this.#pace = pace
  }

  now(): number {
    return this.#shownMs + (systemClock.now() - this.#originMs) * this.#pace
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms / this.#pace, signal)
  }

  setTimer(ms: number, callback: () => void): () => void {
    return systemClock.setTimer(ms / this.#pace, callback)
  }

  /** Puts it forward, past an idle time; timers do not notice. */
  leap(ms: number): void {
    this.#shownMs += ms
  }

  /** From now on; timers that are set keep their time. */
  setPace(pace: number): void {
    this.#shownMs = this.now()
    this.#originMs = systemClock.now()
    this.#pace = pace
  }
}
