import type { Agent } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { HeldSession } from '../lease/hold-session.ts'
import type { RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from './session-workspaces.ts'

/**
 * Ends every workspace that a held session has a ref of, also those that its agent no longer
 * declares. Never rejects. @returns the names of those that could not be ended
 */
export async function endRefs(
  services: RunServices,
  agent: Agent | undefined,
  { session, lease }: HeldSession,
): Promise<readonly string[]> {
  const refs = Object.entries(session.workspaceRefs)
  if (refs.length === 0) return []
  const own = Object.fromEntries(refs.map(([name, ref]) => [name, declarationOf(agent, name, ref)]))
  const saveRef = saveRefsOf(services, lease)
  const workspaces = new SessionWorkspaces({ services, session, toolSet: { own }, saveRef })
  const { owed } = await workspaces.close('end')
  return owed
}

/** What a provider does at the end of a backend may depend on what the agent declares. */
export function declarationOf(
  agent: Agent | undefined,
  name: string,
  ref: WorkspaceRef,
): WorkspaceDeclaration {
  const { providerId } = ref
  const workspaces = agent?.workspaces ?? {}
  const declared = Object.hasOwn(workspaces, name) ? workspaces[name] : undefined
  if (declared?.provider.kind === providerId && ref.moved === undefined) return declared
  const { capabilities = {} } = declared ?? {}
  const unknown = { name, provider: { kind: providerId }, capabilities, onLost: 'reopen' } as const
  return declarationOfRef(unknown, ref)
}

/** A workspace that was moved is with another provider than the declared one. */
export function declarationOfRef(
  declaration: WorkspaceDeclaration,
  { moved }: WorkspaceRef,
): WorkspaceDeclaration {
  return moved === undefined
    ? declaration
    : { ...declaration, provider: moved.provider, isMoved: true }
}

/** Refs that no stored session has. */
export interface UnusedRefs {
  /** The session that they were made for. */
  readonly sessionId: string
  readonly refs: Readonly<Record<string, WorkspaceRef>>
}

/**
 * Ends workspaces that were made for a session that was not created. What cannot be ended is
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
