import { StateStoreError } from '@helix-agents/core'
import type { Run } from './run.ts'

/**
 * Renews the claim of a run on its session; the result ends that. A run that lost its claim is
 * stopped: another process may go on with the session.
 */
export function keepClaim(run: Run): () => void {
  const { services, control } = run
  const { clock, leaseMs, stateStore, logger } = services
  let cancel: (() => void) | undefined
  let ended = false
  const renew = async (): Promise<void> => {
    try {
      await stateStore.renewRun({ ...run.write(), leaseMs })
    } catch (error) {
      if (isLost(error)) return control.stop('claim-lost')
      logger.warn({ error, sessionId: run.sessionId, runId: run.runId }, 'claim not renewed')
    }
    schedule()
  }
  const schedule = (): void => {
    if (!ended) cancel = clock.setTimer(leaseMs / 3, () => void renew())
  }
  schedule()
  return () => {
    ended = true
    cancel?.()
  }
}

/** Whether the store says that the session is not this run's any more. */
export function isLost(error: unknown): boolean {
  if (!StateStoreError.isInstance(error)) return false
  return error.code === 'conflict' || error.code === 'not-found'
}
