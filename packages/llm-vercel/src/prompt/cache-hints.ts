import type { LanguageModelV4Message } from '@ai-sdk/provider'

/** Each provider reads its own key. */
const HINT = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
} as const

/**
 * Marks what a provider is to keep in its prompt cache: the system prompt with the tools before it,
 * and the conversation up to its end. The end of the step before is marked as well: there the
 * provider finds what it kept, however many tool results came since. Changes the array, not its
 * messages.
 */
export function addCacheHints(prompt: LanguageModelV4Message[]): void {
  const last = prompt.length - 1
  const before = prompt.findLastIndex(({ role }, index) => index < last && role === 'assistant') - 1
  for (const index of new Set([0, before, last])) {
    const message = prompt[index]
    if (message === undefined || (index === 0 && message.role !== 'system')) continue
    prompt[index] = { ...message, providerOptions: { ...message.providerOptions, ...HINT } }
  }
}
