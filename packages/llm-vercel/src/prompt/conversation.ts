import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import type { Message } from '@helix-agents/core'
import { toAssistantParts } from './convert-assistant.ts'
import { type ConvertedResult, toResultPart } from './convert-result.ts'
import { toFilePart } from './file-parts.ts'
import type { ModelFamily } from './model-family.ts'

/** What one message is for a provider. */
export type Converted =
  | { readonly kind: 'message'; readonly message: LanguageModelV4Message }
  | { readonly kind: 'result'; readonly result: ConvertedResult }
  /** It says nothing, and providers refuse empty messages. */
  | { readonly kind: 'empty' }

/** Converts one message; what it makes depends on nothing else. */
export function convertMessage(message: Message, family: ModelFamily): Converted {
  if (message.role === 'tool') return { kind: 'result', result: toResultPart(message, family) }
  if (message.role === 'assistant') {
    const content = [...toAssistantParts(message, family)]
    return content.length === 0
      ? { kind: 'empty' }
      : { kind: 'message', message: { role: 'assistant', content } }
  }
  const { content, files = [] } = message
  const text = content === '' ? [] : [{ type: 'text', text: content } as const]
  const parts = [...text, ...files.map(toFilePart)]
  return parts.length === 0
    ? { kind: 'empty' }
    : { kind: 'message', message: { role: 'user', content: parts } }
}

/**
 * A conversation in the form of a provider. It grows with the array of a session: what was
 * converted for one step is there for the next.
 */
export class Conversation {
  readonly #prompt: LanguageModelV4Message[] = []
  /** Results that follow one answer are one message; files that must stand outside come behind. */
  #results: LanguageModelV4ToolResultPart[] = []
  #files: ConvertedResult['files'] = []
  /** Messages of the session that are in it. */
  #taken = 0
  #first: Message | undefined
  #last: Message | undefined

  /** Whether the array still begins with what was taken: it may have been cut and grown again. */
  fits(messages: readonly Message[]): boolean {
    if (this.#taken === 0) return true
    return messages[0] === this.#first && messages[this.#taken - 1] === this.#last
  }

  take(messages: readonly Message[], convert: (message: Message) => Converted): void {
    for (const message of messages.slice(this.#taken)) this.#add(convert(message))
    this.#taken = messages.length
    this.#first = messages[0]
    this.#last = messages.at(-1)
  }

  /** The messages of the prompt: a new array, since its reader may keep or change it. */
  prompt(): LanguageModelV4Message[] {
    return [...this.#prompt, ...this.#tail()]
  }

  #add(converted: Converted): void {
    if (converted.kind === 'result') {
      const { part, files } = converted.result
      this.#results.push(part)
      this.#files = [...this.#files, ...files]
    } else if (converted.kind === 'message') {
      this.#prompt.push(...this.#tail(), converted.message)
      this.#results = []
      this.#files = []
    }
  }

  #tail(): LanguageModelV4Message[] {
    if (this.#results.length === 0) return []
    const results: LanguageModelV4Message = { role: 'tool', content: [...this.#results] }
    if (this.#files.length === 0) return [results]
    return [results, { role: 'user', content: [...this.#files] }]
  }
}
