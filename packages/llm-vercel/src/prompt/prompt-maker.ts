import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Message, StepInput } from '@helix-agents/core'
import { addCacheHints } from './cache-hints.ts'
import { Conversation, convertMessage, type Converted } from './conversation.ts'
import { familyOf, type ModelFamily } from './model-family.ts'

/**
 * Makes the prompt of a step. A message is converted once for each family of models: the array of
 * a session grows, and a hook that shortens it hands over the same messages.
 */
export class PromptMaker {
  readonly #hints: boolean
  readonly #messages = new WeakMap<ModelFamily, WeakMap<Message, Converted>>()
  readonly #conversations = new WeakMap<ModelFamily, WeakMap<readonly Message[], Conversation>>()
  #conversions = 0

  constructor(hints: boolean) {
    this.#hints = hints
  }

  /** Messages converted so far. */
  get conversionCount(): number {
    return this.#conversions
  }

  make(input: StepInput, model: LanguageModelV4): LanguageModelV4Prompt {
    const family = familyOf(model)
    const conversation = this.#conversationOf(input.messages, family)
    const { systemPrompt = '' } = input
    const prompt = conversation.prompt()
    if (systemPrompt !== '') prompt.unshift({ role: 'system', content: systemPrompt })
    const hasOwnHints = hasCacheControl(input.config.providerOptions)
    if (this.#hints && family.wantsCacheHints && !hasOwnHints) addCacheHints(prompt)
    return prompt
  }

  #conversationOf(messages: readonly Message[], family: ModelFamily): Conversation {
    const known = mapOf(this.#conversations, family)
    const found = known.get(messages)
    const conversation = found?.fits(messages) === true ? found : new Conversation()
    known.set(messages, conversation)
    conversation.take(messages, (message) => this.#convert(message, family))
    return conversation
  }

  #convert(message: Message, family: ModelFamily): Converted {
    const known = mapOf(this.#messages, family)
    const found = known.get(message)
    if (found !== undefined) return found
    this.#conversions += 1
    const made = convertMessage(message, family)
    known.set(message, made)
    return made
  }
}

function mapOf<Key extends object, Inner extends object, Value>(
  outer: WeakMap<Key, WeakMap<Inner, Value>>,
  key: Key,
): WeakMap<Inner, Value> {
  const known = outer.get(key)
  if (known !== undefined) return known
  const made = new WeakMap<Inner, Value>()
  outer.set(key, made)
  return made
}

/** The caller says himself what to keep. */
function hasCacheControl(options: Readonly<Record<string, unknown>> = {}): boolean {
  const { anthropic } = options
  return typeof anthropic === 'object' && anthropic !== null && 'cacheControl' in anthropic
}
