import type { RunEnd, SessionState, StoredOutcome } from '@helix-agents/core/runtime'
import { Lease } from './lease.ts'
import type { RunServices } from '../ports.ts'

/** A session that does not run, held against runs. */
export interface HeldSession {
  /** As it is while no other process can change it. */
  readonly session: SessionState
  readonly lease: Lease
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
 * Holds the lease of a session that does not run while `work` changes what it owns. The session keeps
 * its status: a process that dies in between leaves it to the next one.
 * @throws {AgentAlreadyRunningError} `already-running` while a run holds it.
 */
export async function holdSession<T>(
  services: RunServices,
  sessionId: string,
  { work, end }: HoldOptions<T>,
): Promise<T> {
  const { stateStore, clock, leaseMs } = services
  const runId = crypto.randomUUID()
  const startedAt = clock.now()
  const start = { sessionId, runId, leaseMs, now: startedAt, hold: true }
  const session = await stateStore.beginRun(start)
  const lease = new Lease({ services, sessionId, runId, startedAt, onLost: () => {} })
  const stopRenewing = lease.keepRenewed()
  let standing: Standing | null = standingOf(session)
  try {
    const result = await work({ session, lease })
    if (end !== undefined) standing = end(result, standing)
    return result
  } finally {
    stopRenewing()
    if (standing !== null) await stateStore.endRun({ ...lease.write(), ...standing })
  }
}

/** A run that was decided, and whose process died, ends as it was decided. */
function standingOf({ status, output, error, owed, outcome }: SessionState): Standing {
  if (status === 'idle' || status === 'running') return outcome ?? { status: 'interrupted' }
  return {
    status,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(owed !== undefined && { owed }),
  }
}
