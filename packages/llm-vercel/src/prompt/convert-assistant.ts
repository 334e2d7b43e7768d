import type { LanguageModelV4Message, LanguageModelV4ToolCallPart } from '@ai-sdk/provider'
import type { AssistantMessage, ToolCall } from '@helix-agents/core'
import { readRecord, type RecordedPart } from './answer-record.ts'
import type { ModelFamily } from './model-family.ts'
import { sentCallId, sentToolName } from './sent-names.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type AssistantPart = AssistantContent[number]

/** The parts of an answer, as its provider gave them where that is known. */
export function toAssistantParts(
  message: AssistantMessage,
  family: ModelFamily,
): readonly AssistantPart[] {
  const record = readRecord(message)
  if (record === undefined) return plainParts(message, family)
  const isOwn = record.provider === family.provider
  return new PartReader(message, family, isOwn).read(record.parts)
}

function plainParts(
  { content, toolCalls = [] }: AssistantMessage,
  family: ModelFamily,
): readonly AssistantPart[] {
  const text: AssistantPart[] = content === '' ? [] : [{ type: 'text', text: content }]
  return [...text, ...toolCalls.map((call) => toCallPart(call, family))]
}

/** Cuts a message into the parts of its record. */
class PartReader {
  readonly #message: AssistantMessage
  readonly #family: ModelFamily
  readonly #isOwn: boolean
  #text = 0
  #thinking = 0
  #calls = 0

  constructor(message: AssistantMessage, family: ModelFamily, isOwn: boolean) {
    this.#message = message
    this.#family = family
    this.#isOwn = isOwn
  }

  read(recorded: readonly RecordedPart[]): readonly AssistantPart[] {
    const { content, toolCalls = [] } = this.#message
    const parts = recorded.flatMap((part) => this.#part(part))
    // A record that does not fit its message loses nothing of it.
    const rest = content.slice(this.#text)
    const calls = toolCalls.slice(this.#calls).map((call) => toCallPart(call, this.#family))
    return [...parts, ...(rest === '' ? [] : [{ type: 'text', text: rest } as const]), ...calls]
  }

  #part({ kind, length, metadata }: RecordedPart): readonly AssistantPart[] {
    const options = metadata === undefined ? {} : { providerOptions: metadata }
    if (kind === 'call') {
      const call = this.#message.toolCalls?.[this.#calls++]
      return call === undefined ? [] : [{ ...toCallPart(call, this.#family), ...options }]
    }
    if (kind === 'reasoning') {
      const text = this.#takeThinking(length)
      // Signatures are for their own provider, and no other takes reasoning without one.
      return this.#isOwn ? [{ type: 'reasoning', text, ...options }] : []
    }
    const text = this.#takeText(length)
    return text === '' && metadata === undefined ? [] : [{ type: 'text', text, ...options }]
  }

  #takeText(length: number): string {
    const start = this.#text
    this.#text += length
    return this.#message.content.slice(start, this.#text)
  }

  #takeThinking(length: number): string {
    const start = this.#thinking
    this.#thinking += length
    return (this.#message.thinking ?? '').slice(start, this.#thinking)
  }
}

function toCallPart(call: ToolCall, family: ModelFamily): LanguageModelV4ToolCallPart {
  const toolCallId = sentCallId(call.id, family)
  return { type: 'tool-call', toolCallId, toolName: sentToolName(call.name), input: inputOf(call) }
}

/** Providers want an object back, also for arguments that were none. */
function inputOf({ arguments: given }: ToolCall): unknown {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {}
}
