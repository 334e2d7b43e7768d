import { HelixError } from '../errors/helix-error.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { backoffMs } from '../time/backoff.ts'
import type { Clock } from '../time/clock.ts'

export interface TransientRetry {
  /** Retries after the first attempt. */
  readonly attempts: number
  readonly clock: Clock
  readonly random: () => number
  /** Ends the waiting between attempts. */
  readonly signal: AbortSignal
  readonly onRetry: (error: HelixError) => void
}

/**
 * Repeats `run` while it fails with an error that says a retry can help, waiting longer each
 * time, and at least as long as the error asks for.
 */
export async function retryTransient<T>(run: () => Promise<T>, retry: TransientRetry): Promise<T> {
  for (let done = 0; ; done++) {
    try {
      return await run()
    } catch (error) {
      if (done >= retry.attempts || !isWorthRetry(error) || retry.signal.aborted) throw error
      const waitMs = Math.max(backoffMs(done, retry.random), retryAfterMs(error))
      retry.onRetry(error)
      await retry.clock.sleep(waitMs, retry.signal)
    }
  }
}

/** What is lost stays lost, and an attempt that ran out of time has cost its caller enough. */
const NOT_WORTH_A_RETRY: ReadonlySet<string> = new Set(['lost', 'open-timeout'])

function isWorthRetry(error: unknown): error is HelixError {
  return HelixError.isInstance(error) && error.transient && !NOT_WORTH_A_RETRY.has(error.code)
}

function retryAfterMs(error: HelixError): number {
  return WorkspaceFailedError.isInstance(error) ? (error.retryAfterMs ?? 0) : 0
}
