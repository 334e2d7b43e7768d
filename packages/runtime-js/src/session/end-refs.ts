import type { Agent } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { HeldSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from './session-workspaces.ts'

/**
 * Ends every workspace that a held session has a ref of, also those that its agent declares no
 * more. Never rejects. @returns the names of those that could not be ended
 */
export async function endRefs(
  services: RunServices,
  agent: Agent | undefined,
  { session, claim }: HeldSession,
): Promise<readonly string[]> {
  const refs = Object.entries(session.workspaceRefs)
  if (refs.length === 0) return []
  const own = Object.fromEntries(refs.map(([name, ref]) => [name, declarationOf(agent, name, ref)]))
  const saveRef = saveRefsOf(services, claim)
  const workspaces = new SessionWorkspaces({ services, session, toolSet: { own }, saveRef })
  const { owed } = await workspaces.close('end')
  return owed
}

/** What a provider does at the end may be up to what the agent declares. */
function declarationOf(
  agent: Agent | undefined,
  name: string,
  { providerId }: WorkspaceRef,
): WorkspaceDeclaration {
  const workspaces = agent?.workspaces ?? {}
  const declared = Object.hasOwn(workspaces, name) ? workspaces[name] : undefined
  if (declared?.provider.kind === providerId) return declared
  return { name, provider: { kind: providerId }, capabilities: {}, onLost: 'reopen' }
}
