/** What the harness measures with; a platform gives it. See `createNodeWorkHost`. */
export interface WorkHost {
  /** Processor time that the thread has used since any moment, in milliseconds. */
  cpuMs(): number
  /** Starts a measurement of memory. The returned function gives the growth at its peak, in bytes. */
  startPeak(): () => number
  /** Calls back at once in every turn of the event loop, until the returned function is called. */
  everyTurn(callback: () => void): () => void
}

/** What one call has cost. */
export interface WorkCost {
  /**
   * Longest stretch without a turn for timers, in milliseconds of processor time of the thread.
   * Time in which another process had the processor does not count, so a busy machine changes
   * nothing; time in which the thread slept in a system call does not count either.
   */
  readonly holdMs: number
  /** Growth of the memory of the process at its peak, in bytes. Garbage is included. */
  readonly peakBytes: number
  /** Turns of the event loop during the call. */
  readonly turns: number
}

/** A call and what it has cost. */
export interface MeasuredWork<T> {
  readonly cost: WorkCost
  readonly outcome: PromiseSettledResult<T>
}

/** Runs a call and measures it; a call that rejects is measured as well. */
export async function measureWork<T>(
  host: WorkHost,
  run: () => Promise<T>,
): Promise<MeasuredWork<T>> {
  let [holdMs, turns] = [0, 0]
  const peak = host.startPeak()
  let last = host.cpuMs()
  const mark = (): void => {
    const now = host.cpuMs()
    holdMs = Math.max(holdMs, now - last)
    last = now
    turns += 1
  }
  const stop = host.everyTurn(mark)
  try {
    last = host.cpuMs()
    const [outcome] = await Promise.allSettled([startIn(run)])
    mark()
    return { cost: { holdMs, peakBytes: peak(), turns }, outcome }
  } finally {
    stop()
  }
}

/** Measurements of which the least counts. */
const MEASUREMENTS = 3

/**
 * Runs a call that may be repeated, at most three times, until it holds the loop for less than a
 * limit, and gives the measurement with the least hold. Other programs only add to a measurement,
 * on virtual machines to processor time as well, so a call that is within its limit once is bounded.
 *
 * @param limitMs In milliseconds.
 */
export async function measureLeastHold<T>(
  host: WorkHost,
  limitMs: number,
  run: () => Promise<T>,
): Promise<MeasuredWork<T>> {
  let least = await measureWork(host, run)
  for (let left = MEASUREMENTS - 1; left > 0 && least.cost.holdMs >= limitMs; left--) {
    const next = await measureWork(host, run)
    if (next.cost.holdMs < least.cost.holdMs) least = next
  }
  return least
}

/** What a call throws before its first wait is a rejection as well. */
async function startIn<T>(run: () => Promise<T>): Promise<T> {
  return run()
}
