import { createTimeSlice } from '../../../time/slice.ts'

/** Units of work after which a search reads the clock. One is about 20 ns at worst. */
const UNITS_PER_CHECK = 100_000
/** Where the clock stands still, so many checks are a slice: about 10 ms at worst. */
const CHECKS_WITHOUT_CLOCK = 5

/** Lets others run during long work, however much of it is in one file or one line. */
export interface SearchPace {
  /**
   * Runs the steps of a search; each yields the units of work that it took.
   * @returns undefined when all of them ran at once, else a promise of their end.
   */
  run(steps: Iterator<number, void>, signal: AbortSignal | undefined): Promise<void> | undefined
  /**
   * Counts work that was done.
   * @returns undefined to continue at once, else a promise to await first; it rejects after an abort.
   */
  rest(units: number, signal: AbortSignal | undefined): Promise<void> | undefined
}

/** One for all files of a search: many small ones are as long as a large one. */
export function createSearchPace(): SearchPace {
  const slice = createTimeSlice(undefined, CHECKS_WITHOUT_CLOCK)
  let units = 0
  /** True when the share of the event loop is used up. */
  const spend = (added: number): boolean => {
    units += added
    if (units < UNITS_PER_CHECK) return false
    units = 0
    return slice.due
  }
  const pause = async (signal: AbortSignal | undefined): Promise<void> => {
    await slice.pause()
    signal?.throwIfAborted()
  }
  const goOn = async (
    steps: Iterator<number, void>,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    do await pause(signal)
    while (!runSlice(steps, spend))
  }
  return {
    rest: (added, signal) => (spend(added) ? pause(signal) : undefined),
    run: (steps, signal) => (runSlice(steps, spend) ? undefined : goOn(steps, signal)),
  }
}

/** Runs until the slice is used up; true at the end. */
function runSlice(steps: Iterator<number, void>, spend: (units: number) => boolean): boolean {
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    if (spend(step.value)) return false
  }
  return true
}
