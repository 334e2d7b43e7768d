import type { Agent } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { RunServices } from '../ports.ts'
import { SessionWorkspaces } from './session-workspaces.ts'

/** Refs that no stored session has. */
export interface UnusedRefs {
  /** The session that they were made for. */
  readonly sessionId: string
  readonly refs: Readonly<Record<string, WorkspaceRef>>
}

/**
 * Ends workspaces that were made for a session which did not come to be. What cannot be ended is
 * logged and reported as owed. Never rejects.
 */
export async function releaseRefs(
  services: RunServices,
  agent: Agent,
  { sessionId, refs }: UnusedRefs,
): Promise<void> {
  if (Object.keys(refs).length === 0) return
  const toolSet = services.toolSets.of(agent)
  const session = {
    sessionId,
    agentType: agent.name,
    workspaceRefs: refs,
    fileLedgers: {},
    stepCount: 0,
  }
  const workspaces = new SessionWorkspaces({ services, session, toolSet, saveRef: async () => {} })
  await workspaces.close('end')
}
