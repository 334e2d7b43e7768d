import { StateStoreError } from '@helix-agents/core'
import type { RunEnd, RunWrite } from '@helix-agents/core/runtime'
import { isLeaseLost } from '../lease/lease.ts'
import type { Run } from '../ports.ts'

/** Waits between the attempts to store an end. */
const PAUSES_MS: readonly number[] = [100, 400, 1_500]

/** How a run ends, without the fence of the write. */
type End = Omit<RunEnd, keyof RunWrite>

/**
 * Stores how a run ends and releases its session. A store that does not answer for a moment gets
 * further attempts: a run that is over would hold the session for the rest of its lease.
 * @throws what the store throws
 */
export async function storeEnd(run: Run, end: End): Promise<void> {
  const { stateStore, clock, logger } = run.services
  const { sessionId, runId } = run
  for (let attempt = 0; ; attempt += 1) {
    try {
      await stateStore.endRun({ ...run.lease.write(), ...end })
      return
    } catch (err) {
      if (attempt > 0 && isLeaseLost(err) && (await hasArrived(run, end))) return
      const pauseMs = PAUSES_MS[attempt]
      if (pauseMs === undefined || !isAway(err)) throw err
      logger.warn({ err, sessionId, runId }, 'end of run not stored yet')
      await clock.sleep(pauseMs)
    }
  }
}

/** Whether an earlier attempt was stored, and only its answer was lost. */
async function hasArrived({ services, sessionId, runId }: Run, { status }: End): Promise<boolean> {
  const session = await services.stateStore.loadSession(sessionId)
  return session?.runId === runId && session.leaseUntil === undefined && session.status === status
}

function isAway(error: unknown): boolean {
  return StateStoreError.isInstance(error) && error.transient
}
