/** Checks after which a clock that stands still counts as used up. */
const CHECKS_WITHOUT_CLOCK = 1024

/** A share of the event loop for long synchronous work. */
export interface TimeSlice {
  /** True when the share is used up: call `pause` at the next good point. */
  readonly due: boolean
  /** As `due`, after work that costs as much as so many checks where the clock stands still. */
  dueAfter(checks: number): boolean
  /** Lets timers, I/O and other work run, then starts a new slice. */
  pause(): Promise<void>
}

/**
 * Cooperative yielding, so that a search over many files never blocks the event loop for long.
 * Workers stop their clock during synchronous work; there, a number of checks stands in for time.
 *
 * @param budgetMs Length of a slice in milliseconds.
 * @param checksWithoutClock Checks of `due` that are a slice where the clock stands still.
 */
export function createTimeSlice(
  budgetMs = 8,
  checksWithoutClock = CHECKS_WITHOUT_CLOCK,
): TimeSlice {
  let startMs = performance.now()
  let checks = 0
  const dueAfter = (added: number): boolean => {
    checks += added
    const elapsedMs = performance.now() - startMs
    if (elapsedMs === 0) return checks >= checksWithoutClock
    return elapsedMs >= budgetMs
  }
  return {
    dueAfter,
    get due() {
      return dueAfter(1)
    },
    async pause() {
      await nextTurn()
      startMs = performance.now()
      checks = 0
    },
  }
}

/** `setTimeout` waits at least a millisecond in Node; `setImmediate` only one turn. */
function nextTurn(): Promise<void> {
  const immediate: unknown = Reflect.get(globalThis, 'setImmediate')
  return new Promise((resolve) => {
    if (typeof immediate === 'function') immediate(resolve)
    else setTimeout(resolve, 0)
  })
}
