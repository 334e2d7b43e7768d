import type { Agent } from '@helix-agents/core'
import { type AgentPermissions, permissionsOf, type SessionState } from '@helix-agents/core/runtime'
import type { ParentRun, RequestPlace, RunServices } from '../ports.ts'

interface Asker {
  readonly session: SessionState
  readonly parent: ParentRun | undefined
}

/** Where the requests of a run are listed: with the root of a sub-agent. */
export async function placeOf(
  services: RunServices,
  agent: Agent,
  { session, parent }: Asker,
): Promise<RequestPlace> {
  if (parent !== undefined) {
    const { rootSessionId, agentPath, blocked } = parent.requests
    const above = parent.workspaces === undefined ? [] : parent.requests.rules
    const rules = [...above, ...rulesOf(agent)]
    return { rootSessionId, agentPath: [...agentPath, agent.name], rules, blocked }
  }
  const path = [agent.name]
  let root = session
  // A sub-agent that is resumed without its parent.
  while (root.parentSessionId !== undefined) {
    const above = await services.stateStore.loadSession(root.parentSessionId)
    if (above === null) break
    root = above
    path.unshift(above.agentType)
  }
  const rules = rulesOf(agent)
  return { rootSessionId: root.sessionId, agentPath: path, rules, blocked: new Set() }
}

function rulesOf(agent: Agent): readonly AgentPermissions[] {
  return [permissionsOf(agent) ?? []].flat()
}
