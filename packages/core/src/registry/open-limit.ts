import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'

/**
 * Runs a function when its turn comes. Rejects with the reason of `signal` when that aborts
 * while waiting; once the function runs, ending it early is its own affair.
 */
export type OpenLimit = <T>(run: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/**
 * Bounds how many functions run at once; the others wait in the order they came. An aborted
 * one leaves the queue at once, which `p-limit` has no way to do for a single entry.
 * @param max undefined: no bound.
 * @throws {WorkspaceFailedError} `config-invalid` when `max` is not a positive whole number.
 */
export function createOpenLimit(max: number | undefined): OpenLimit {
  if (max === undefined || max === Number.POSITIVE_INFINITY) return runUnlessAborted
  if (!Number.isInteger(max) || max < 1) {
    throw new WorkspaceFailedError(
      'config-invalid',
      `the limit of concurrent opens must be a positive whole number, not ${max}`,
    )
  }
  let freeSlots = max
  const waiting = new Set<() => void>()
  const release = (): void => {
    const [next] = waiting
    if (next === undefined) freeSlots++
    // The slot passes on directly, so that a newcomer cannot overtake those who wait.
    else next()
  }
  return async (run, signal) => {
    signal?.throwIfAborted()
    if (freeSlots > 0) freeSlots--
    else await waitForTurn(waiting, signal)
    try {
      return await runUnlessAborted(run, signal)
    } finally {
      release()
    }
  }
}

async function runUnlessAborted<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  signal?.throwIfAborted()
  return run()
}

function waitForTurn(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      waiting.delete(start)
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = (): void => {
      waiting.delete(start)
      reject(signal?.reason)
    }
    waiting.add(start)
    signal?.addEventListener('abort', leave, { once: true })
  })
}
