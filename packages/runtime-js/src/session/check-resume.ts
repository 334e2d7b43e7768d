import type { Agent } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { whyNotResumable } from '../run/prepare-session.ts'

/** Whether a session can be resumed, and why not. */
export interface ResumeCheck {
  readonly canResume: boolean
  /** Why it cannot be resumed; absent when it can. */
  readonly reason?: string
  /** The session; absent when there is none. */
  readonly state?: SessionState
}

/** Whether `resume` without a message can continue a session. */
export async function checkResume(
  services: RunServices,
  agent: Agent,
  sessionId: string,
): Promise<ResumeCheck> {
  const state = await services.stateStore.loadSession(sessionId)
  if (state === null) return { canResume: false, reason: 'there is no such session' }
  const reason = whyNot(services, agent, state)
  return reason === undefined ? { canResume: true, state } : { canResume: false, reason, state }
}

function whyNot(
  { active, clock }: RunServices,
  agent: Agent,
  state: SessionState,
): string | undefined {
  if (state.agentType !== agent.name) return `it belongs to agent ${state.agentType}`
  if (active.isRunning(state.sessionId)) return 'it is running'
  // As the store decides for a run that starts now.
  if (clock.now() < (state.leaseUntil ?? 0)) return 'another process holds it'
  return whyNotResumable(state, false)
}
