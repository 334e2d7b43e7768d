import type { Message, ModelOutput } from '@helix-agents/core'
import type { Cell } from '../../output/cell.ts'

const MAX_CHARACTERS = 200

/** One line of a message: enough to recognise it. */
export function toMessageRow(message: Message, position: number): Cell[] {
  const isError = message.role === 'tool' && message.isError === true
  const text = shorten(textOf(message))
  return [String(position), message.role, isError ? { text, tone: 'bad' } : text]
}

function textOf(message: Message): string {
  if (message.role === 'tool') return `${message.toolName}: ${contentText(message.content)}`
  if (message.role === 'user') {
    const files = message.files?.length ?? 0
    return files === 0 ? message.content : `${message.content} [${files} files]`
  }
  const calls = (message.toolCalls ?? []).map(
    (call) => `${call.name}(${JSON.stringify(call.arguments) ?? ''})`,
  )
  return [message.content, ...calls].filter((part) => part !== '').join(' ')
}

function contentText(content: ModelOutput): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join(' ')
}

/** The rest is counted; no character is cut in half. */
function shorten(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  const start = text.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')
  return `${start}… (${text.length - start.length} more)`
}
