import type { Agent } from '../agent/agent-definition.ts'
import { defineInput } from '../agent/tool-input.ts'
import type { ToolSpec } from '../llm/llm-adapter.ts'
import type { Schema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'

/** The tool through which an agent with an `outputSchema` gives its output. */
export const FINISH_TOOL_NAME = '__finish__'

/** The tools of an agent, ready for a run loop. */
export interface EffectiveTools {
  readonly byName: ReadonlyMap<string, Tool>
  /** The same array in every step, so that adapters can cache their own form of it. */
  readonly specs: readonly ToolSpec[]
}

/** Joins the agent's own tools, those of its workspaces, and `__finish__`. */
export function buildEffectiveTools(
  agent: Agent,
  workspaceTools: readonly Tool[] = [],
): EffectiveTools {
  const finish = agent.outputSchema === undefined ? [] : [finishTool(agent.outputSchema)]
  const tools = [...agent.tools, ...workspaceTools, ...finish]
  return {
    byName: new Map(tools.map((tool) => [tool.name, tool])),
    specs: Object.freeze(
      tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ),
  }
}

function finishTool(outputSchema: Schema): Tool {
  return {
    name: FINISH_TOOL_NAME,
    description: 'Gives the final result. Call it once, when the task is done.',
    annotations: { readOnly: true, destructive: false, idempotent: true },
    ...finishInput(outputSchema),
    finishWith: true,
    execute: (output) => Promise.resolve(output),
    toModelOutput: () => 'Done.',
  }
}

/** Arguments are objects: an output of another type travels as their field `result`. */
function finishInput(outputSchema: Schema): Pick<Tool, 'parameters' | 'parse'> {
  const { parameters, parse } = defineInput(outputSchema)
  if (parameters['type'] === 'object') return { parameters, parse }
  return {
    parameters: { type: 'object', properties: { result: parameters }, required: ['result'] },
    parse: (input) => parse(resultOf(input)),
  }
}

function resultOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'result' in input ? input.result : input
}
