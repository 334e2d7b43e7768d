import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { JsonSchema } from '../tools/json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'
import type { Agent } from './agent-definition.ts'
import { defineInput } from './tool-input.ts'
import { renderForModel } from './render-for-model.ts'

/** Prefix of the tools that run another agent. */
export const SUBAGENT_TOOL_PREFIX = 'subagent__'

/** Options of `createSubAgentTool`. */
export interface SubAgentToolOptions {
  /** For the model. Default: the description of the agent. */
  readonly description?: string
  /** Time of the whole run of the sub-agent. Default: no limit of its own. */
  readonly timeoutMs?: number
  /**
   * Shares the workspaces of the parent: its tools, its files and its policy. A name that both
   * declare is the parent's. Default: the sub-agent is isolated.
   */
  readonly inheritWorkspaces?: boolean
}

/** What a runtime needs to run a sub-agent. */
export interface SubAgentCall {
  readonly agent: Agent
  readonly inheritWorkspaces: boolean
}

/** A tool that a runtime executes by running another agent. */
export interface SubAgentTool extends Tool {
  readonly subAgent: SubAgentCall
}

/** True for the name of a tool that runs another agent. */
export function isSubAgentTool(name: string): boolean {
  return name.startsWith(SUBAGENT_TOOL_PREFIX)
}

/** The sub-agent of a tool that `createSubAgentTool` made. */
export function subAgentOf(tool: Tool): SubAgentCall | undefined {
  return isSubAgent(tool) ? tool.subAgent : undefined
}

function isSubAgent(tool: Tool): tool is SubAgentTool {
  return 'subAgent' in tool
}

/**
 * Makes an agent callable as a tool, `subagent__<name>`. It runs in a session of its own; its
 * input becomes the first message, and its output (the last text, without an `outputSchema`) the
 * result of the tool.
 */
export function createSubAgentTool<TState, TOutput>(
  agent: Agent<TState, TOutput>,
  inputSchema: Schema | JsonSchema,
  options: SubAgentToolOptions = {},
): SubAgentTool {
  const name = `${SUBAGENT_TOOL_PREFIX}${agent.name}`
  const inheritWorkspaces = options.inheritWorkspaces ?? false
  return Object.freeze({
    name,
    description: options.description ?? agent.description ?? `Runs the agent ${agent.name}.`,
    annotations: { readOnly: false, destructive: true, idempotent: false },
    ...defineInput(inputSchema),
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    subAgent: { agent, inheritWorkspaces },
    execute: () =>
      Promise.reject(new ToolFailedError('tool-failed', 'this runtime does not run sub-agents')),
    toModelOutput: renderForModel,
  })
}
