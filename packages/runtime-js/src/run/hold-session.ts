import type { SessionState, StoredOutcome } from '@helix-agents/core'
import { Claim } from './claim.ts'
import type { RunServices } from './run-services.ts'

/** A session that does not run, held against runs. */
export interface HeldSession {
  readonly session: SessionState
  readonly claim: Claim
}

/** What is done with a held session. */
export interface HoldOptions<T> {
  readonly work: (held: HeldSession) => Promise<T>
  /** How the session stands afterwards. Default: as before. */
  readonly end?: StoredOutcome
}

/**
 * Holds a session that does not run while something is done with what it owns.
 * @throws {AgentAlreadyRunningError} `already-running` while a run holds it.
 */
export async function holdSession<T>(
  services: RunServices,
  before: SessionState,
  { work, end }: HoldOptions<T>,
): Promise<T> {
  const { stateStore, clock, leaseMs } = services
  const { sessionId } = before
  const runId = crypto.randomUUID()
  const claimedAt = clock.now()
  const session = await stateStore.beginRun({ sessionId, runId, leaseMs, now: claimedAt })
  const claim = new Claim({ services, sessionId, runId, claimedAt, onLost: () => {} })
  const endClaim = claim.keep()
  try {
    return await work({ session, claim })
  } finally {
    endClaim()
    await stateStore.endRun({ ...claim.write(), ...(end ?? standOf(before, session)) })
  }
}

/** A run that was decided, and whose process died, ends as it was decided. */
function standOf(before: SessionState, { outcome }: SessionState): StoredOutcome {
  const { status, output, error } = before
  if (status === 'idle' || status === 'running') return outcome ?? { status: 'interrupted' }
  return {
    status,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  }
}
