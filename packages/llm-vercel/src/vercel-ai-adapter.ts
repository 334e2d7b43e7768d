import type { LLMAdapter, StepInput, StepResult } from '@helix-agents/core'
import {
  type AdapterSettings,
  parseOptions,
  type VercelAIAdapterOptions,
} from './adapter-options.ts'
import { createCallOptions } from './call-options.ts'
import { callWithRetries } from './call-with-retries.ts'
import { PromptMaker } from './prompt/prompt-maker.ts'
import { type UnreadableFile, UnreadableFiles } from './prompt/unreadable-files.ts'
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
  readonly #unreadable: UnreadableFiles

  /** @throws {RangeError} for a number that is no count or no time. */
  constructor(options: VercelAIAdapterOptions = {}) {
    this.#settings = parseOptions(options)
    this.#prompts = new PromptMaker(this.#settings.promptCache)
    this.#warnings = new WarningLog(this.#settings.logger)
    this.#unreadable = new UnreadableFiles((file) => tellUnreadable(file, this.#settings))
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
      optionsFor: (model) => {
        const options = createCallOptions(input, model, this.#prompts, this.#tools)
        return { ...options, prompt: this.#unreadable.apply(options.prompt, model) }
      },
      leavesOut: (failure, model) =>
        this.#unreadable.learn(failure, () => this.#prompts.make(input, model), model),
    })
  }
}

function tellUnreadable(file: UnreadableFile, settings: AdapterSettings): void {
  const { logger, onUnreadableFile } = settings
  const { mediaType, modelId, provider } = file
  logger.warn({ provider, model: modelId, mediaType }, 'the model cannot read a kind of file')
  try {
    onUnreadableFile(file)
  } catch (err) {
    logger.warn({ err }, 'onUnreadableFile failed')
  }
}
