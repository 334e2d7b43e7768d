import { type Agent, SessionError } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

/**
 * Loads a session of an agent.
 * @throws {SessionError} `not-resumable` for an unknown one, `other-agent`.
 */
export async function loadOwnSession(
  { stateStore }: Pick<RunServices, 'stateStore'>,
  agent: Agent,
  sessionId: string,
): Promise<SessionState> {
  const session = await stateStore.loadSession(sessionId)
  if (session === null) {
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  if (session.agentType === agent.name) return session
  throw new SessionError('other-agent', sessionId, `it belongs to agent ${session.agentType}`)
}
