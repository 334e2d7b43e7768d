/** Time as a dependency, so that no test has to wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`, or rejects with the reason of `signal` as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls `callback` once after `ms`; the result cancels it. Keeps no process alive, unless the
   * options say that a caller waits for it.
   */
  setTimer(ms: number, callback: () => void, options?: TimerOptions): () => void
}

/** Options of a timer. */
export interface TimerOptions {
  /**
   * The process must not end before: what the timer would stop may be all there is to wait for.
   * Default false.
   */
  readonly keepsProcessAlive?: boolean
}

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = startTimer(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  setTimer: (ms, callback, { keepsProcessAlive = false } = {}) =>
    keepsProcessAlive ? startTimer(ms, callback) : startTimer(ms, callback, letProcessEnd),
}

/** A timer of JavaScript that is set to more, such as `Infinity`, rings at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** @param prepare Gets each timer that it takes. */
function startTimer(
  ms: number,
  callback: () => void,
  prepare: (timer: unknown) => void = () => {},
): () => void {
  const start = (restMs: number): ReturnType<typeof setTimeout> => {
    const isLast = !(restMs > LONGEST_TIMER_MS)
    const goOn = (): void => void (timer = start(restMs - LONGEST_TIMER_MS))
    const started = isLast ? setTimeout(callback, restMs) : setTimeout(goOn, LONGEST_TIMER_MS)
    prepare(started)
    return started
  }
  let timer = start(ms)
  return () => clearTimeout(timer)
}

/** Node keeps a process alive for a timer unless it is unreferenced. */
function letProcessEnd(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return
  if (typeof timer.unref === 'function') timer.unref()
}
