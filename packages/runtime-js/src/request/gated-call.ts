import type { Agent, Tool } from '@helix-agents/core'
import type { PlacedCall } from '../ports.ts'
import { agentsWithin } from '../executor/agents-within.ts'

/** A call of a known tool. */
export interface GatedCall extends PlacedCall {
  readonly tool: Tool
  /** A call in front of it waits: it may ask, and must not start. */
  readonly isBlocked: boolean
}

/** Whether calls of a tool can be asked about or denied at all. */
export function isGated({ needsApproval = false, answeredBy }: Tool): boolean {
  return needsApproval !== false || answeredBy !== undefined
}

/** Whether every call of a tool asks before it starts. */
export function alwaysAsks({ needsApproval, answeredBy }: Tool): boolean {
  return needsApproval === true || answeredBy !== undefined
}

/** Whether an agent, or a sub-agent of it, can ask. */
export function canAsk(agent: Agent): boolean {
  return [...agentsWithin(agent).values()].some(({ tools }) => tools.some(isGated))
}
