import type { LLMAdapter, StepInput, StepResult } from '@helix-agents/core'
import {
  type AdapterSettings,
  parseOptions,
  type VercelAIAdapterOptions,
} from './adapter-options.ts'
import { createCallOptions } from './call-options.ts'
import { callWithRetries } from './call-with-retries.ts'
import { PromptMaker } from './prompt/prompt-maker.ts'
import { ToolMaker } from './tools/tool-maker.ts'
import { WarningLog } from './warning-log.ts'

/**
 * Any language model of the AI SDK behind the port of the framework: `llmConfig.model` is a model
 * of one of its providers. One adapter serves any number of agents, models and sessions.
 *
 * It speaks to the provider interface of the AI SDK directly: each message and each tool is
 * converted once, and not again in every step of a session.
 */
export class VercelAIAdapter implements LLMAdapter {
  readonly #settings: AdapterSettings
  readonly #prompts: PromptMaker
  readonly #tools = new ToolMaker()
  readonly #warnings: WarningLog

  /** @throws {RangeError} for a number that is no count or no time. */
  constructor(options: VercelAIAdapterOptions = {}) {
    this.#settings = parseOptions(options)
    this.#prompts = new PromptMaker(this.#settings.promptCache)
    this.#warnings = new WarningLog(this.#settings.logger)
  }

  /** Messages and tools converted so far, for measuring: neither grows faster than its input. */
  get conversionCount(): { readonly messages: number; readonly tools: number } {
    return { messages: this.#prompts.conversionCount, tools: this.#tools.conversionCount }
  }

  /**
   * Asks the model for one step, again when that may help. What goes wrong is a result of type
   * `error` with a `ModelError`.
   */
  async generateStep(input: StepInput): Promise<StepResult> {
    input.abortSignal.throwIfAborted()
    return callWithRetries(input, {
      settings: this.#settings,
      warnings: this.#warnings,
      optionsFor: (model) => createCallOptions(input, model, this.#prompts, this.#tools),
    })
  }
}
