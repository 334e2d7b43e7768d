import type { ModelError } from '../errors/model-error.ts'
import type { JsonSchema, JsonValue } from '../tools/json-schema.ts'
import type { Schema } from '../tools/schema.ts'
import type { Message, ToolCall } from './messages.ts'

/** Which model to call and how. `model` is what the adapter in use expects. */
export interface LLMConfig {
  readonly model: unknown
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  /** Further attempts of a model call that failed. Default: the adapter's. */
  readonly maxRetries?: number
  /**
   * The model answers with JSON of this schema, where its provider can do that: the answer is a
   * `structured_output`. For an output that every model can give, see `outputSchema` of an agent.
   */
  readonly responseSchema?: Schema | JsonSchema
  readonly headers?: Readonly<Record<string, string>>
  readonly providerOptions?: Readonly<Record<string, unknown>>
}

/** A tool as the model sees it. The array is the same one in every step of a run. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** A piece of the arguments of a tool call that the model is writing. */
export interface ToolInputDelta {
  readonly toolCallId: string
  readonly toolName: string
  /** A part of the JSON text. */
  readonly delta: string
}

/** A model call failed and is made again. */
export interface ModelRetry {
  readonly error: ModelError
  /** The attempt that failed; counts from 1. */
  readonly attempt: number
  /** Time until the next attempt. */
  readonly delayMs: number
  /** The failed attempt had said something: what came since the last message does not count. */
  readonly discardsOutput: boolean
}

/** Live output of a model call. */
export interface StepCallbacks {
  onTextDelta?(delta: string): void
  /** A piece of the reasoning; or the whole, when a part of it is complete. */
  onThinking?(content: string, isComplete: boolean): void
  onToolInput?(piece: ToolInputDelta): void
  /** Called before the wait. Output after it is that of the next attempt. */
  onRetry?(retry: ModelRetry): void
}

/** One call of the model: the conversation, the tools and the settings. */
export interface StepInput {
  readonly systemPrompt?: string
  /** The conversation, append-only: the same array in every step of a run. Do not change it. */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly config: LLMConfig
  readonly abortSignal: AbortSignal
  readonly callbacks: StepCallbacks
  readonly agentId: string
  readonly agentType: string
}

/** Tokens of one model call, as the provider reports them. */
export interface TokenUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  /** Those of `inputTokens` that the provider had in its prompt cache. */
  readonly cachedInputTokens?: number
  /** Those of `inputTokens` that the provider wrote into its prompt cache. */
  readonly cacheWriteTokens?: number
  /** Those of `outputTokens` that the model used for reasoning. */
  readonly reasoningTokens?: number
}

interface StepResultBase {
  readonly stopReason?: string
  readonly usage?: TokenUsage
}

/** What the model answered in one step. */
export type StepResult =
  | (StepResultBase & {
      readonly type: 'text'
      readonly content: string
      readonly thinking?: string
      /** False asks for another step. */
      readonly shouldStop: boolean
      /** See `AssistantMessage`. */
      readonly providerMetadata?: JsonValue
    })
  | (StepResultBase & {
      readonly type: 'tool_calls'
      readonly content?: string
      readonly thinking?: string
      readonly toolCalls: readonly ToolCall[]
      /** See `AssistantMessage`. */
      readonly providerMetadata?: JsonValue
    })
  | (StepResultBase & { readonly type: 'structured_output'; readonly output: unknown })
  | (StepResultBase & {
      readonly type: 'error'
      /** A `ModelError` says what happened; of any other the run only says that it failed. */
      readonly error: unknown
      /** False asks for a retry of the step. */
      readonly shouldStop: boolean
    })

/** The port to a language model. */
export interface LLMAdapter {
  /**
   * Produces one step. Rejects with the reason of `abortSignal` when it aborts. What the model or
   * its provider do wrong is a result of type `error`; what a call says wrong is a `problem` of it.
   */
  generateStep(input: StepInput): Promise<StepResult>
}
