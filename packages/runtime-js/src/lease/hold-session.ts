import type { RunEnd, SessionState, StoredOutcome } from '@helix-agents/core/runtime'
import { Claim } from './lease.ts'
import type { RunServices } from '../ports.ts'

/** A session that does not run, held against runs. */
export interface HeldSession {
  /** As it stands since nobody else can change it. */
  readonly session: SessionState
  readonly claim: Claim
}

/** What is done with a held session. */
export interface HoldOptions<T> {
  readonly work: (held: HeldSession) => Promise<T>
  /** How the session stands afterwards; `null` when it is gone. Default: as before. */
  readonly end?: (result: T, before: Standing) => Standing | null
}

/** How a session stands while no run holds it. */
type Standing = StoredOutcome & Pick<RunEnd, 'owed'>

/**
 * Holds a session that does not run while something is done with what it owns. It stays as it is
 * meanwhile: a process that dies in between leaves it to the next one.
 * @throws {AgentAlreadyRunningError} `already-running` while a run holds it.
 */
export async function holdSession<T>(
  services: RunServices,
  sessionId: string,
  { work, end }: HoldOptions<T>,
): Promise<T> {
  const { stateStore, clock, leaseMs } = services
  const runId = crypto.randomUUID()
  const claimedAt = clock.now()
  const start = { sessionId, runId, leaseMs, now: claimedAt, hold: true }
  const session = await stateStore.beginRun(start)
  const claim = new Claim({ services, sessionId, runId, claimedAt, onLost: () => {} })
  const endClaim = claim.keep()
  let standing: Standing | null = standingOf(session)
  try {
    const result = await work({ session, claim })
    if (end !== undefined) standing = end(result, standing)
    return result
  } finally {
    endClaim()
    if (standing !== null) await stateStore.endRun({ ...claim.write(), ...standing })
  }
}

/** A run that was decided, and whose process died, ends as it was decided. */
function standingOf({ status, output, error, owed, outcome }: SessionState): Standing {
  if (status === 'idle' || status === 'running') return outcome ?? { status: 'interrupted' }
  return {
    status,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(owed === undefined ? {} : { owed }),
  }
}
