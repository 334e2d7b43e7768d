import { type Agent, AgentAlreadyRunningError } from '@helix-agents/core'
import type { SessionState, SessionStatus } from '@helix-agents/core/runtime'
import type { AgentHandle } from './agent-handle.ts'
import { hasMessages } from '../session/has-messages.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import type { RunServices } from '../ports.ts'
import { loadOpenRequests } from '../request/open-requests.ts'

/** What became of a session that may have been left in the middle of a run. */
export type Recovery<TOutput = unknown> =
  /** Its run continues in this process. */
  | { readonly outcome: 'resumed'; readonly handle: AgentHandle<TOutput> }
  /** Another process holds it: retry at `leaseUntil`, milliseconds since the epoch. */
  | { readonly outcome: 'held'; readonly leaseUntil: number | undefined }
  /**
   * It was not left: this process runs it, it is over, a user paused it, a person is asked, or its
   * parent resumes it.
   */
  | { readonly outcome: 'not-needed'; readonly status: SessionStatus }

interface Recovering<TOutput> {
  readonly sessionId: string
  /** `resume` what was left, or `execute` the next turn with the messages that were queued. */
  readonly start: (mode: 'execute' | 'resume') => Promise<AgentHandle<TOutput>>
}

/**
 * Resumes a session whose process died, or was shut down, in the middle of a run.
 * @throws {SessionError} `not-resumable` for an unknown session, `other-agent`
 */
export async function recoverSession<TOutput>(
  services: RunServices,
  agent: Agent,
  { sessionId, start }: Recovering<TOutput>,
): Promise<Recovery<TOutput>> {
  const session = await loadOwnSession(services, agent, sessionId)
  const mode = await findMode(services, session)
  if (mode === undefined) return { outcome: 'not-needed', status: session.status }
  if (isHeld(services, session)) return { outcome: 'held', leaseUntil: session.leaseUntil }
  try {
    return { outcome: 'resumed', handle: await start(mode) }
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

/** Its process died before the queued message had reached the conversation. */
async function isUnbegun(services: RunServices, session: SessionState): Promise<boolean> {
  return session.messageCount === 0 && (await hasMessages(services, session.sessionId))
}

async function findMode(
  services: RunServices,
  session: SessionState,
): Promise<'execute' | 'resume' | undefined> {
  const { sessionId, status, parentSessionId } = session
  if (isLeft(services, session)) return (await isUnbegun(services, session)) ? 'execute' : 'resume'
  if (parentSessionId !== undefined || services.active.isRunning(sessionId)) return undefined
  if (status === 'completed' || status === 'idle')
    return (await hasMessages(services, sessionId)) ? 'execute' : undefined
  if (status !== 'waiting') return undefined
  return (await isAnswered(services, sessionId)) ? 'resume' : undefined
}

async function isAnswered(services: RunServices, sessionId: string): Promise<boolean> {
  const { answered } = await services.stateStore.loadSignals(sessionId)
  return answered > 0 || (await hasExpired(services, sessionId))
}

/** The time of a request is over, and no run has acted on that. */
async function hasExpired(services: RunServices, sessionId: string): Promise<boolean> {
  const open = await loadOpenRequests(services, sessionId, 0)
  return open.some(({ expiresAt = Infinity }) => services.clock.now() >= expiresAt)
}

function isHeld({ clock }: RunServices, { status, leaseUntil = 0 }: SessionState): boolean {
  return status === 'running' && clock.now() < leaseUntil
}
