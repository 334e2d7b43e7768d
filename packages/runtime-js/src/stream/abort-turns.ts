import type { SessionState, TurnQueuePort } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

/** Pause before the next look at a turn that a worker has claimed and not begun. */
const PAUSE_MS = 100

/** Which turns of a session: all that wait, or one. */
export interface TurnsToAbort {
  readonly sessionId: string
  readonly turnId?: string
}

/**
 * Aborts a session whose turns a queue may have: those that wait never run, the one that runs is stopped,
 * and one that is claimed and has not begun is waited for.
 */
export async function abortTurns(
  services: RunServices,
  turns: TurnsToAbort,
  abortRun: () => Promise<void>,
): Promise<void> {
  const { turnQueue } = services
  const isRunLeft = turnQueue === undefined || (await cancelWaiting(services, turnQueue, turns))
  if (isRunLeft) await abortRun()
}

/** @returns whether there is a run, or a session, to abort as well */
async function cancelWaiting(
  { stateStore, clock }: RunServices,
  turnQueue: TurnQueuePort,
  { sessionId, turnId }: TurnsToAbort,
): Promise<boolean> {
  let isCancelled = false
  // A turn that has not begun leaves its session as it was.
  let hasBegun = turnId === undefined
  for (;;) {
    const { cancelled, begun, active } = await turnQueue.cancelTurns(sessionId, turnId)
    isCancelled ||= cancelled > 0
    hasBegun ||= begun
    const session = await stateStore.loadSession(sessionId)
    if (!active || isRunning(session, clock.now())) {
      return !isCancelled || (session !== null && hasBegun)
    }
    await clock.sleep(PAUSE_MS)
  }
}

function isRunning(session: SessionState | null, now: number): boolean {
  return session?.status === 'running' && now < (session.leaseUntil ?? 0)
}
