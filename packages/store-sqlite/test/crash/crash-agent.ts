// The agent of the crash test: its model plays the plan, its tools leave traces outside.
import { appendFileSync } from 'node:fs'
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type LLMAdapter,
  type StepInput,
  type StepResult,
} from '@helix-agents/core'
import {
  AGENT,
  EFFECT_LOG_VARIABLE,
  nextStep,
  SUB_AGENT,
  toAssistantMessage,
} from './session-plan.ts'

export interface CrashAgentOptions {
  readonly steps: number
  /** Effects append their ids to it. */
  readonly effectLog: string
  /** Called where dying is worth a try. */
  readonly onPoint: () => void
  /** Called when an effect was logged, in the middle of its call. */
  readonly onEffect?: () => void
}

export function createCrashAgent(options: CrashAgentOptions) {
  const provider = { kind: 'local-bash', env: { [EFFECT_LOG_VARIABLE]: options.effectLog } }
  const capabilities = { fs: { extended: true }, shell: { background: true } }
  const tools = [look, count, ...recorders(options)]
  const helper = defineAgent({
    name: SUB_AGENT,
    llmConfig: { model: {} },
    tools,
    workspaces: { own: { provider, capabilities } },
  })
  return defineAgent({
    name: AGENT,
    llmConfig: { model: {} },
    maxSteps: 10_000,
    tools: [...tools, createSubAgentTool(helper, taskSchema)],
    workspaces: { box: { provider, capabilities } },
  })
}

const taskSchema = { type: 'object', properties: { task: { type: 'string' } } } as const
const idSchema = { type: 'object', properties: { id: { type: 'string' } } } as const

const look = defineTool({
  name: 'look',
  description: 'Changes nothing.',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  execute: () => 'seen',
})

const count = defineTool({
  name: 'count',
  description: 'Leaves its id in the custom state.',
  inputSchema: idSchema,
  execute: (input, context) => {
    const id = idOf(input)
    context.updateState<{ counted?: string[] }>((state) => {
      state.counted = [...(state.counted ?? []), id]
    })
    return `counted ${id}`
  },
})

function recorders({ effectLog, onPoint, onEffect }: CrashAgentOptions) {
  const define = (name: string, turns: number) =>
    defineTool({
      name,
      description: 'Must never happen twice.',
      inputSchema: idSchema,
      execute: async (input) => {
        const id = idOf(input)
        for (let waited = 0; waited < turns; waited += 1) await turn()
        onPoint()
        appendFileSync(effectLog, `${id}\n`)
        onEffect?.()
        onPoint()
        for (let waited = 0; waited < turns; waited += 1) await turn()
        return `recorded ${id}`
      },
    })
  return [define('record', 1), define('record_slowly', 5)]
}

function turn(): Promise<unknown> {
  return new Promise((resolve) => setImmediate(resolve))
}

function idOf(input: unknown): string {
  return (input as { readonly id: string }).id
}

/** Knows the conversation only, so that it goes on in any process. */
export class PlanAdapter implements LLMAdapter {
  readonly #steps: number
  readonly #onPoint: () => void

  constructor({ steps, onPoint }: CrashAgentOptions) {
    this.#steps = steps
    this.#onPoint = onPoint
  }

  async generateStep({ agentType, messages, callbacks }: StepInput): Promise<StepResult> {
    const [first] = messages
    if (first?.role !== 'user') throw new Error('a conversation starts with the user')
    const stepsDone = messages.filter(({ role }) => role === 'assistant').length
    const message = first.content
    const plan = nextStep(agentType, { message, stepsDone, steps: this.#steps })
    const { content, toolCalls } = toAssistantMessage(plan)
    callbacks.onTextDelta?.(content)
    this.#onPoint()
    if (toolCalls !== undefined) return { type: 'tool_calls', content, toolCalls }
    const isLast = agentType === AGENT ? stepsDone + 1 === this.#steps : content.startsWith('done ')
    return { type: 'text', content, shouldStop: isLast }
  }
}
