import { type Agent, AgentAlreadyRunningError } from '@helix-agents/core'
import type { SessionState, SessionStatus } from '@helix-agents/core/runtime'
import type { AgentHandle } from './agent-handle.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import type { RunServices } from '../ports.ts'
import { loadOpenRequests } from '../request/open-requests.ts'

/** What became of a session that may have been left in the middle of a run. */
export type Recovery<TOutput = unknown> =
  /** Its run continues in this process. */
  | { readonly outcome: 'resumed'; readonly handle: AgentHandle<TOutput> }
  /** Another process holds it: retry at `leaseUntil`, milliseconds since the epoch. */
  | { readonly outcome: 'held'; readonly leaseUntil: number | undefined }
  /** It was not left: this process runs it, it is over, a user paused it, or its parent resumes it. */
  | { readonly outcome: 'not-needed'; readonly status: SessionStatus }

/**
 * Resumes a session whose process died, or was shut down, in the middle of a run.
 * @throws {SessionError} `not-resumable` for an unknown session, `other-agent`
 */
export async function recoverSession<TOutput>(
  services: RunServices,
  agent: Agent,
  { sessionId, resume }: { sessionId: string; resume: () => Promise<AgentHandle<TOutput>> },
): Promise<Recovery<TOutput>> {
  const session = await loadOwnSession(services, agent, sessionId)
  if (!isLeft(services, session) && !(await isAnswered(services, session))) {
    return { outcome: 'not-needed', status: session.status }
  }
  if (isHeld(services, session)) return { outcome: 'held', leaseUntil: session.leaseUntil }
  try {
    return { outcome: 'resumed', handle: await resume() }
  } catch (error) {
    if (!AgentAlreadyRunningError.isInstance(error)) throw error
    const { leaseUntil } = await loadOwnSession(services, agent, sessionId)
    return { outcome: 'held', leaseUntil }
  }
}

function isLeft({ active }: RunServices, session: SessionState): boolean {
  const { sessionId, status, error, parentSessionId } = session
  if (parentSessionId !== undefined || active.isRunning(sessionId)) return false
  return status === 'running' || (status === 'interrupted' && error?.code === 'shutdown')
}

/** Its requests have answers, or their time is over, and no run has acted on that. */
async function isAnswered(services: RunServices, session: SessionState): Promise<boolean> {
  const { interactions, clock, active } = services
  const { sessionId, status, parentSessionId } = session
  if (status !== 'waiting' || interactions === undefined) return false
  if (parentSessionId !== undefined || active.isRunning(sessionId)) return false
  if ((await interactions.loadSignals(sessionId)).answered > 0) return true
  const open = await loadOpenRequests(services, sessionId, 0)
  return open.some(({ expiresAt = Infinity }) => clock.now() >= expiresAt)
}

function isHeld({ clock }: RunServices, { status, leaseUntil = 0 }: SessionState): boolean {
  return status === 'running' && clock.now() < leaseUntil
}
