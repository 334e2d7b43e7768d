import type { Agent } from '@helix-agents/core'
import { subAgentOf } from '@helix-agents/core/runtime'

/** An agent and all the sub-agents that it can come to, by name. */
export function agentsWithin(agent: Agent): ReadonlyMap<string, Agent> {
  const found = new Map<string, Agent>()
  const add = (one: Agent): void => {
    if (found.has(one.name)) return
    found.set(one.name, one)
    for (const tool of one.tools) {
      const call = subAgentOf(tool)
      if (call !== undefined) add(call.agent)
    }
  }
  add(agent)
  return found
}
