import type { LLMAdapter } from '@helix-agents/core'
import { nextAnswer } from './script.ts'

/** Between two words, so that there is something to watch and to interrupt. */
const WORD_MS = 25

/** A model without a key. It speaks word by word, as real ones do. */
export const scriptedModel: LLMAdapter = {
  async generateStep({ messages, abortSignal, callbacks }) {
    const answer = nextAnswer(messages)
    if (answer.type !== 'text' && answer.type !== 'tool_calls') return answer
    for (const word of (answer.content ?? '').split(/(?<= )/)) {
      abortSignal.throwIfAborted()
      callbacks.onTextDelta?.(word)
      await new Promise((resolve) => setTimeout(resolve, WORD_MS))
    }
    return answer
  },
}
