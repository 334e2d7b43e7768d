import {
  fitContext,
  estimateTokens,
  type LLMConfig,
  type Message,
  ModelError,
  type PrepareStep,
  type StepChanges,
  type StepDraft,
  type StepInput,
  type StepResult,
} from '@helix-agents/core'
import { withWholeCalls } from '@helix-agents/core/runtime'
import type { Run } from '../ports.ts'

/** What a model call is made of, but for its callbacks. */
export type CallInput = Pick<StepInput, 'messages' | 'tools' | 'config' | 'systemPrompt'>

/** How often a conversation that is too long is halved for one step. */
const MAX_HALVINGS = 6

/**
 * Makes what the model gets. Without a hook of the agent that is the whole conversation, and less
 * of it once the model has said that it is too long.
 */
export class InputMaker {
  readonly #run: Run
  readonly #promptOf: () => string | undefined
  #hook: PrepareStep | undefined
  #sentTokens = 0
  #halvings = 0

  constructor(run: Run) {
    this.#run = run
    this.#promptOf = createPrompt(run)
    this.#hook = run.agent.prepareStep
  }

  make(): CallInput | Promise<CallInput> {
    const { messages, agent, toolSet } = this.#run
    const systemPrompt = this.#promptOf()
    const whole: CallInput = {
      ...(systemPrompt !== undefined && { systemPrompt }),
      messages,
      tools: toolSet.tools.specs,
      config: agent.llmConfig,
    }
    if (this.#hook === undefined) return whole
    return this.#prepare(whole, this.#hook)
  }

  /**
   * Whether a shorter conversation is worth another call: the model rejected this one for its
   * length, the agent has no hook for that, and there is something to leave out.
   */
  shorten(result: StepResult, sent: readonly Message[]): ModelError | undefined {
    const error = result.type === 'error' ? result.error : undefined
    const isTooLong = ModelError.isInstance(error) && error.code === 'context-length'
    if (!isTooLong || this.#run.agent.prepareStep !== undefined) return undefined
    const tokens = sent.reduce((sum, message) => sum + estimateTokens(message), 0)
    const isShorter = this.#sentTokens === 0 || tokens < this.#sentTokens
    if (!isShorter || this.#halvings >= MAX_HALVINGS || sent.length < 3) return undefined
    this.#halvings += 1
    this.#sentTokens = tokens
    this.#hook = fitContext({ maxTokens: Math.ceil(tokens / 2) })
    return error
  }

  /** The model took it: the next refusal starts anew. */
  accepted(): void {
    this.#halvings = 0
    this.#sentTokens = 0
  }

  async #prepare(whole: CallInput, hook: PrepareStep): Promise<CallInput> {
    return change(whole, await hook(this.#draft(whole)))
  }

  #draft({ messages, tools, config, systemPrompt }: CallInput): StepDraft {
    const { recorder, meter, state, control } = this.#run
    return {
      messages,
      tools,
      config,
      systemPrompt,
      stepCount: recorder.stepCount,
      lastUsage: meter.lastUsage,
      state: state.current,
      abortSignal: control.signal,
    }
  }
}

function change(whole: CallInput, changes: StepChanges = {}): CallInput {
  const { messages, systemPrompt, config, tools } = changes
  const isWhole = messages === undefined || messages === whole.messages
  return {
    ...whole,
    ...(systemPrompt !== undefined && { systemPrompt }),
    messages: isWhole ? whole.messages : withWholeCalls(messages),
    ...(config !== undefined && { config: merge(whole.config, config) }),
    ...(tools !== undefined && { tools: whole.tools.filter(({ name }) => tools.includes(name)) }),
  }
}

function merge(config: LLMConfig, changes: Partial<LLMConfig>): LLMConfig {
  return { ...config, ...changes }
}

/** The system prompt; one that is made from the state is made again only when the state changed. */
function createPrompt({ agent, state }: Run): () => string | undefined {
  const { systemPrompt } = agent
  if (typeof systemPrompt !== 'function') return () => systemPrompt
  let madeFrom: unknown
  let prompt: string | undefined
  return () => {
    if (prompt === undefined || madeFrom !== state.current) {
      madeFrom = state.current
      prompt = systemPrompt(madeFrom ?? {})
    }
    return prompt
  }
}
