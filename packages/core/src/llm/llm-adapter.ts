import type { JsonSchema } from '../tools/json-schema.ts'
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
  /** Default: the adapter's. */
  readonly maxRetries?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly providerOptions?: Readonly<Record<string, unknown>>
}

/** A tool as the model sees it. The array is the same one in every step of a run. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** Live output of a model call. */
export interface StepCallbacks {
  onTextDelta?(delta: string): void
  onThinking?(content: string, isComplete: boolean): void
}

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

export interface TokenUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
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
    })
  | (StepResultBase & {
      readonly type: 'tool_calls'
      readonly content?: string
      readonly thinking?: string
      readonly toolCalls: readonly ToolCall[]
    })
  | (StepResultBase & { readonly type: 'structured_output'; readonly output: unknown })
  | (StepResultBase & {
      readonly type: 'error'
      readonly error: unknown
      /** False asks for the step to be tried again. */
      readonly shouldStop: boolean
    })

/** The port to a language model. */
export interface LLMAdapter {
  /** Produces one step. Rejects with the reason of `abortSignal` when it aborts. */
  generateStep(input: StepInput): Promise<StepResult>
}
