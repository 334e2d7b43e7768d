// A session whose calls wait for a person, as data that the child plays and the test judges.
import type { AssistantMessage, LLMAdapter, StepInput, StepResult } from '@helix-agents/core'
import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import type { RequestResponse } from '@helix-agents/runtime-js'
import type { Sabotage } from '../watched-stores.ts'

export const SESSION = 'waiting'
/** Given to the child as JSON. */
export interface WaitingTask {
  readonly database: string
  /** Effects append their input to it. */
  readonly effectLog: string
  /** Dies there, or at its end where it passes fewer. Default: it works to the end. */
  readonly dieAtPoint?: number
  /** Dies as soon as so many calls have had their effect. */
  readonly dieAfterEffects?: number
  /** The lease of the process before has run out. */
  readonly clockAheadMs: number
  readonly sabotage?: Sabotage
  /** Dies as soon as it waits, instead of answering. */
  readonly isAlone?: boolean
}

/** What the person says to each call, by the id in its arguments. */
export const ANSWERS: Readonly<Record<string, RequestResponse>> = {
  approved: { decision: 'approve', by: 'ada' },
  denied: { decision: 'deny', reason: 'not this one' },
  edited: { decision: 'approve', input: { id: 'as edited' } },
  below: { decision: 'approve' },
}

/** What the user says besides, in the order in which the conversation gets it. */
export const MESSAGES = [
  { messageId: 'm-1', delivery: 'steer', text: 'be brief' },
  { messageId: 'm-2', delivery: 'steer', text: 'and polite' },
  { messageId: 'm-3', delivery: 'followUp', text: 'thank you' },
] as const

/** Inputs that may run, each once at most. */
export const ALLOWED = ['approved', 'as edited', 'below', 'free']

const idSchema = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
} as const

/** @param record Called with the input of a call that runs. */
export function createWaitingAgent(record: (input: unknown) => void) {
  const define = (name: string, needsApproval: boolean) =>
    defineTool({
      name,
      description: 'Must never happen twice.',
      inputSchema: idSchema,
      needsApproval,
      execute: (input) => {
        record(input)
        return `recorded ${JSON.stringify(input)}`
      },
    })
  const ask = define('ask', true)
  const helper = defineAgent({ name: 'helper', llmConfig: { model: {} }, tools: [ask] })
  return defineAgent({
    name: 'asker',
    llmConfig: { model: {} },
    tools: [ask, define('free', false), createSubAgentTool(helper, { type: 'object' })],
  })
}

type Calls = NonNullable<AssistantMessage['toolCalls']>

// Both steps name their calls alike, as small models do: a request speaks for its own step only.
const STEPS: Readonly<Record<string, readonly Calls[]>> = {
  asker: [
    [
      { id: '0', name: 'ask', arguments: { id: 'approved' } },
      { id: '1', name: 'ask', arguments: { id: 'denied' } },
      { id: '2', name: 'free', arguments: { id: 'free' } },
    ],
    [
      { id: '0', name: 'ask', arguments: { id: 'edited' } },
      { id: '1', name: 'subagent__helper', arguments: {} },
    ],
  ],
  helper: [[{ id: '0', name: 'ask', arguments: { id: 'below' } }]],
}

/** Knows the conversation only, so that it goes on in any process. */
export const waitingModel: LLMAdapter = {
  generateStep: async ({ agentType, messages }: StepInput): Promise<StepResult> => {
    const done = messages.filter(({ role }) => role === 'assistant').length
    const toolCalls = STEPS[agentType]?.[done]
    return toolCalls === undefined
      ? { type: 'text', content: 'done', shouldStop: true }
      : { type: 'tool_calls', toolCalls }
  },
}
