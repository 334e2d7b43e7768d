// The agents of the model: their calls and what a call does are known in advance.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type StepInput,
  type StepResult,
} from '@helix-agents/core'
import * as z from 'zod'

/** Tools by what a person has to do with them. */
export const TOOLS = ['pay', 'maybe', 'charge', 'look', 'middle'] as const
export type ToolName = (typeof TOOLS)[number]

/** The calls of each step of each agent. */
export interface Plan {
  readonly root: readonly (readonly ToolName[])[]
  readonly middle: readonly (readonly ToolName[])[]
  readonly leaf: readonly (readonly ToolName[])[]
}

/** What a process has done: by session, tool and number of the call. */
export type Effects = Map<string, string[]>

export interface ProcessParts {
  readonly effects: Effects
  /** A process that is dead does nothing any more. */
  readonly isAlive: () => boolean
  /** In the later release a tool asks that did not ask before. */
  readonly isLater: boolean
}

export const TTL_MS = 5000

/** The agents of one process, in one release. */
export function createAgents({ effects, isAlive, isLater }: ProcessParts) {
  const input = z.object({ n: z.number() })
  const tool = (name: ToolName, more: object) =>
    defineTool({
      name,
      description: name,
      inputSchema: input,
      execute: ({ n }, context) => {
        if (!isAlive()) return new Promise<string>(() => {})
        const key = `${context.sessionId} ${name}`
        effects.set(key, [...(effects.get(key) ?? []), JSON.stringify({ n })])
        return `done ${n}`
      },
      ...more,
    })
  const tools = [
    tool('pay', { needsApproval: true }),
    tool('maybe', { needsApproval: ({ n }: { n: number }) => n % 2 === 1, approvalTtlMs: TTL_MS }),
    tool('charge', isLater ? { needsApproval: true } : {}),
    tool('look', { annotations: { readOnly: true } }),
  ]
  const leaf = defineAgent({ name: 'leaf', llmConfig: { model: 'leaf' }, tools })
  const middle = defineAgent({
    name: 'middle',
    llmConfig: { model: 'middle' },
    tools: [...tools, createSubAgentTool(leaf, input)],
  })
  return defineAgent({
    name: 'root',
    llmConfig: { model: 'root' },
    tools: [...tools, createSubAgentTool(middle, input)],
  })
}

/** Says what the plan says for the step that comes. Numbers of calls are unique in a session. */
export function modelOf(plan: Plan) {
  return {
    generateStep: async ({ config, messages }: StepInput): Promise<StepResult> => {
      const name = config.model as keyof Plan
      const step = messages.filter(({ role }) => role === 'assistant').length
      const calls = plan[name][step] ?? []
      if (calls.length === 0) return { type: 'text', content: `end ${step}`, shouldStop: true }
      return {
        type: 'tool_calls',
        toolCalls: calls.map((call, index) => ({
          // Models use ids again.
          id: `c${index}`,
          name: call === 'middle' ? subAgentOf(name) : call,
          arguments: { n: step * 10 + index },
        })),
      }
    },
  }
}

function subAgentOf(name: keyof Plan): string {
  if (name === 'leaf') return 'look'
  return name === 'root' ? 'subagent__middle' : 'subagent__leaf'
}
