import type { Clock } from '../time/clock.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that a test moves by hand. */
export class ManualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(startMs = 1_000_000) {
    this.#now = startMs
  }

  now(): number {
    return this.#now
  }

  setTimer(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.setTimer(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Timers that are still to fire. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /**
   * Moves the time, firing each timer that comes due at its own moment and letting promises
   * settle in between.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await settle()
    for (let next = this.#nextUntil(target); next; next = this.#nextUntil(target)) {
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
      await settle()
    }
    this.#now = target
  }

  #nextUntil(target: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= target && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}

/** Lets every promise chain that is under way run to its next real wait. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve()
}
