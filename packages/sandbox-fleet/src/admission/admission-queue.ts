import type { Clock } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'

interface Waiter {
  readonly wake: () => void
}

export interface WaitOptions {
  readonly clock: Clock
  /** Longest wait in milliseconds. */
  readonly timeoutMs: number
  /** Interval between checks for room that another process has freed. */
  readonly pollMs: number
}

/** Those who wait for room, in the order in which they came. */
export class AdmissionQueue {
  readonly #waiters: Waiter[] = []

  get length(): number {
    return this.#waiters.length
  }

  /** Room was made: the first may try. */
  wakeFirst(): void {
    this.#waiters[0]?.wake()
  }

  /**
   * Tries until there is room; only the first in the line tries.
   * @throws {FleetError} `capacity-exhausted` when the wait is over.
   */
  async wait<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
    const { clock, pollMs, timeoutMs } = options
    const untilMs = clock.now() + timeoutMs
    const turn = this.#join()
    try {
      for (;;) {
        const found = turn.isFirst() ? await unlessFull(attempt) : undefined
        if (found !== undefined) return found.value
        if (clock.now() >= untilMs) throw full()
        await turn.next(clock, Math.min(pollMs, untilMs - clock.now()))
      }
    } finally {
      turn.leave()
      this.wakeFirst()
    }
  }

  #join() {
    let wakeUp: (() => void) | undefined
    const waiter: Waiter = { wake: () => wakeUp?.() }
    this.#waiters.push(waiter)
    return {
      isFirst: () => this.#waiters[0] === waiter,
      leave: () => void this.#waiters.splice(this.#waiters.indexOf(waiter), 1),
      next: (clock: Clock, ms: number) =>
        new Promise<void>((resolve) => {
          const cancel = clock.setTimer(ms, resolve, { keepsProcessAlive: true })
          wakeUp = () => {
            cancel()
            resolve()
          }
        }),
    }
  }
}

/** What an attempt brings; undefined while there is no room. */
async function unlessFull<T>(
  attempt: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await attempt() }
  } catch (error) {
    if (FleetError.isInstance(error) && error.code === 'capacity-exhausted') return undefined
    throw error
  }
}

function full(): FleetError {
  return new FleetError('capacity-exhausted', 'Maximum sandbox limit reached', {
    hint: 'Try again when another sandbox has ended.',
  })
}
