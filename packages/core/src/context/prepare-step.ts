import type { LLMConfig, TokenUsage, ToolSpec } from '../llm/llm-adapter.ts'
import type { Message } from '../llm/messages.ts'

/** A model call as it would be made. */
export interface StepDraft {
  /** The whole conversation; it stays as it is. Do not change it. */
  readonly messages: readonly Message[]
  readonly systemPrompt: string | undefined
  readonly tools: readonly ToolSpec[]
  readonly config: LLMConfig
  /** Finished steps of the session. */
  readonly stepCount: number
  /** What the call before has used. */
  readonly lastUsage: TokenUsage | undefined
  /** The custom state of the session. Read-only. */
  readonly state: unknown
  readonly abortSignal: AbortSignal
}

/** What is different in a model call; what is left out stays. */
export interface StepChanges {
  /**
   * What the model reads instead of the conversation. Calls that lost their results, and results
   * that lost their calls, are left out: no provider takes them.
   */
  readonly messages?: readonly Message[]
  readonly systemPrompt?: string
  /** Settings to replace, such as another model. */
  readonly config?: Partial<LLMConfig>
  /** Names of the tools that are offered. */
  readonly tools?: readonly string[]
}

/** Called before each model call; changes what the model gets, never what is stored. */
export type PrepareStep = (
  draft: StepDraft,
) => StepChanges | undefined | Promise<StepChanges | undefined>
