import type { JsonValue } from '../tools/json-schema.ts'
import type { ModelOutput } from '../tools/model-output.ts'

/** A file in a message of the user: its bytes, base64, or a URL. */
export interface FilePart {
  readonly data: Uint8Array | string
  readonly mediaType: string
  readonly filename?: string
}

/** A message of the user. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string
  readonly files?: readonly FilePart[]
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

/** A call of a tool that the model asks for. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** As the model gave them; not validated yet. */
  readonly arguments: unknown
  /**
   * Why the arguments cannot be read: they are no JSON, or the answer ended in the middle of them;
   * `arguments` is their text then. Or they are over `contentLimits`, and `arguments` is empty. The
   * call is not run; the model gets an error.
   */
  readonly problem?: 'malformed' | 'truncated' | 'too-deep' | 'too-large'
}

/** An answer of the model: text, calls of tools, or both. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly thinking?: string
  readonly toolCalls?: readonly ToolCall[]
  /** The model reached its limit of tokens (`maxOutputTokens`) in the middle of this text. */
  readonly isCutOff?: true
  /**
   * What the adapter that made the message wants back with it, such as signatures of the reasoning.
   * Stores keep it; only the adapter reads it.
   */
  readonly providerMetadata?: JsonValue
}

/** The result of a tool call, as the model reads it. */
export interface ToolResultMessage {
  readonly role: 'tool'
  readonly toolCallId: string
  readonly toolName: string
  readonly content: ModelOutput
  readonly isError?: boolean
}

/** Messages are immutable: stores and adapters share them by reference. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage
