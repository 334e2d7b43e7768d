import type { Agent } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { collect, type CollectReport } from './collect.ts'
import { holdSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import type { ReleaseOptions } from '../executor/executor-options.ts'

/** Frees what a session that does not run has let go. */
export async function releaseWorkspaces(
  services: RunServices,
  agent: Agent,
  { sessionId, graceMs }: ReleaseOptions & { readonly sessionId: string },
): Promise<CollectReport> {
  const { agentType } = await loadOwnSession(services, agent, sessionId)
  const session = { sessionId, agentType }
  return holdSession(services, sessionId, {
    work: () => collect(services, agent, { session, ...(graceMs !== undefined && { graceMs }) }),
  })
}

/** After a switch has happened: what could not be collected is left to the next collection. */
export async function tryCollect(
  services: RunServices,
  agent: Agent,
  { sessionId }: { readonly sessionId: string },
): Promise<void> {
  try {
    await releaseWorkspaces(services, agent, { sessionId })
  } catch (err) {
    services.logger.warn({ err, sessionId }, logMessages.historyNotCollected)
  }
}
