/** Time as a dependency, so that no test has to wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`, or rejects with the reason of `signal` as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `callback` once after `ms`; the result cancels it. Never keeps a process alive. */
  setTimer(ms: number, callback: () => void): () => void
}

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
  setTimer: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    letProcessEnd(timer)
    return () => clearTimeout(timer)
  },
}

/** Node keeps a process alive for a timer unless it is told not to. */
function letProcessEnd(timer: unknown): void {
  if (typeof timer !== 'object' || timer === null || !('unref' in timer)) return
  if (typeof timer.unref === 'function') timer.unref()
}
