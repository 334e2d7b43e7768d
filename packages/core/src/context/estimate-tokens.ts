import type { Message } from '../llm/messages.ts'
import type { ModelOutput } from '../tools/model-output.ts'

/** Characters of a token, in English and in code; a little less than real ones have. */
const CHARACTERS_PER_TOKEN = 3.5
/** A picture or a file, whatever its size: about what providers count. */
const MEDIA_TOKENS = 1_600
const MESSAGE_TOKENS = 4

/** About how many tokens a message has. Good enough to know when a conversation is long. */
export function estimateTokens(message: Message): number {
  const { characters, media } = sizeOf(message)
  return MESSAGE_TOKENS + Math.ceil(characters / CHARACTERS_PER_TOKEN) + media * MEDIA_TOKENS
}

interface Size {
  readonly characters: number
  readonly media: number
}

function sizeOf(message: Message): Size {
  if (message.role === 'tool') return sizeOfOutput(message.content)
  if (message.role === 'user') {
    return { characters: message.content.length, media: message.files?.length ?? 0 }
  }
  const { content, thinking = '', toolCalls } = message
  const calls = toolCalls === undefined ? 0 : JSON.stringify(toolCalls).length
  return { characters: content.length + thinking.length + calls, media: 0 }
}

function sizeOfOutput(output: ModelOutput): Size {
  if (typeof output === 'string') return { characters: output.length, media: 0 }
  const texts = output.filter((part) => part.type === 'text')
  const characters = texts.reduce((sum, part) => sum + part.text.length, 0)
  return { characters, media: output.length - texts.length }
}
