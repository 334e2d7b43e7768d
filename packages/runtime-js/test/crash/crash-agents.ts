// A session with everything that a crash can tear apart.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type JsonValue,
  type Message,
  type StepInput,
  type StepResult,
  type Tool,
  type ToolContext,
  type ToolResultMessage,
} from '@helix-agents/core'
import * as z from 'zod'

/** What tools have done in the world, by the id of their call: outlives every process. */
export type Effects = Map<string, string[]>

export interface CustomState {
  readonly charged?: readonly string[]
  readonly counts?: number
  readonly looks?: number
}

export function createAgents(effects: Effects) {
  const act = (context: ToolContext, what: string): string => {
    effects.set(context.toolCallId, [...(effects.get(context.toolCallId) ?? []), what])
    return what
  }
  const charge = (name: string): Tool =>
    defineTool({
      name,
      description: 'Must never run twice.',
      orderKey: 'money',
      inputSchema: z.object({}),
      execute: async (_, context) => {
        await Promise.resolve()
        context.updateState<{ charged?: string[] }>((draft) => {
          draft.charged = [...(draft.charged ?? []), context.toolCallId]
        })
        return act(context, `charged ${context.toolCallId}`)
      },
    })
  const look = defineTool({
    name: 'look',
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly: true },
    execute: (_, context) => {
      context.updateState<CustomState & { looks?: number }>((draft) => {
        draft.looks = (draft.looks ?? 0) + 1
      })
      return 'seen'
    },
  })
  const count = defineTool({
    name: 'count',
    description: '',
    inputSchema: z.object({}),
    annotations: { idempotent: true },
    execute: (_, context) => {
      context.updateState<{ counts?: number }>((draft) => {
        draft.counts = (draft.counts ?? 0) + 1
      })
      return 'counted'
    },
  })
  const quote = defineTool({
    name: 'quote',
    description: 'Keeps its order with the charges, and may run again.',
    inputSchema: z.object({}),
    annotations: { idempotent: true },
    orderKey: 'money',
    execute: () => 'quoted',
  })
  const wrapUp = defineTool({
    name: 'wrap_up',
    description: '',
    inputSchema: z.object({}),
    finishWith: true,
    execute: (_, context) => ({ by: act(context, `wrapped up ${context.toolCallId}`) }),
  })
  const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: {} },
    tools: [charge('bill')],
    outputSchema: z.object({ answer: z.string() }),
    workspaces: { own: files },
  })
  const childTool = createSubAgentTool(child, z.object({ task: z.string() }))
  const agent = defineAgent({
    name: 'parent',
    llmConfig: { model: {} },
    tools: [charge('charge'), look, count, quote, wrapUp, childTool],
    workspaces: { notes: files },
  })
  return { agent, child }
}

const write = (at: string): readonly [string, JsonValue] => [
  `workspace__${at}__write_file`,
  { path: '/a', content: 'a' },
]
const SCRIPTS: Readonly<Record<string, readonly (readonly (readonly [string, JsonValue])[])[]>> = {
  parent: [
    [write('notes'), ['look', {}], ['charge', {}], ['charge', {}], ['charge', {}], ['count', {}]],
    [
      ['subagent__child', { task: 't' }],
      ['quote', {}],
      ['charge', {}],
      ['count', {}],
    ],
    [write('notes'), ['charge', {}], ['wrap_up', {}]],
  ],
  child: [[write('own'), ['bill', {}]], [['__finish__', { answer: 'c' }]]],
}

/**
 * A model that goes by the conversation, so that any process can play it from anywhere. It asks
 * again for what was not started, and never for what may have happened.
 */
export function answer({ agentType, messages }: StepInput): StepResult {
  const script = SCRIPTS[agentType] ?? []
  const step = messages.filter(({ role }) => role === 'assistant').length
  const again = openCallsOf(messages).map((name): readonly [string, JsonValue] => [name, {}])
  const scripted = script[Math.min(step, script.length - 1)] ?? []
  return {
    type: 'tool_calls',
    content: `step ${step}`,
    toolCalls: [...scripted, ...again].map(([name, input], index) => ({
      id: `${agentType}-${step}-${index}`,
      name,
      // What may have been written must be looked at before it is written again.
      arguments:
        step < 3 || name === 'subagent__child' ? input : { path: `/${step}`, content: 'a' },
    })),
  }
}

/** Names of the charges of the last step that the model knows not to have started. */
function openCallsOf(messages: readonly Message[]): readonly string[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages
    .slice(last + 1)
    .filter((message) => message.role === 'tool')
    .filter((result) => textOf(result).includes('[not-started]') && result.toolName === 'charge')
    .map(({ toolName }) => toolName)
}

export function textOf({ content }: ToolResultMessage): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}
