import type {
  AssistantMessage,
  FilePart,
  Message,
  ModelOutput,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from '@helix-agents/core'
import { encodeBase64 } from '@helix-agents/core/provider'
import type { DynamicToolUIPart, FileUIPart, UIMessage } from 'ai'

type Part = UIMessage['parts'][number]

/**
 * Stored messages, as a chat of the AI SDK shows them: what an agent says from one message of the
 * user to the next is one assistant message. Ids are places in the list: give all messages, or the
 * id of the first one.
 */
export function toUIMessages(messages: readonly Message[], firstId = 0): UIMessage[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message]] : [])),
  )
  const shown: UIMessage[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue
    const id = `message-${firstId + index}`
    if (message.role === 'user') {
      shown.push({ id, role: 'user', parts: userParts(message) })
      continue
    }
    const parts = assistantParts(message, results)
    const last = shown.at(-1)
    if (last?.role === 'assistant') last.parts.push(...parts)
    else shown.push({ id, role: 'assistant', parts })
  }
  return shown
}

function userParts({ content, files = [] }: UserMessage): Part[] {
  const text: Part[] = content === '' ? [] : [{ type: 'text', text: content }]
  return [...text, ...files.map(toFile)]
}

function toFile({ data, mediaType, filename }: FilePart): FileUIPart {
  return {
    type: 'file',
    mediaType,
    url: toAddress(data, mediaType),
    ...(filename !== undefined && { filename }),
  }
}

function toAddress(data: Uint8Array | string, mediaType: string): string {
  if (typeof data !== 'string') return `data:${mediaType};base64,${encodeBase64(data)}`
  return /^(?:https?|data):/i.test(data) ? data : `data:${mediaType};base64,${data}`
}

function assistantParts(
  { content, thinking = '', toolCalls = [] }: AssistantMessage,
  results: ReadonlyMap<string, ToolResultMessage>,
): Part[] {
  const parts: Part[] = [{ type: 'step-start' }]
  if (thinking !== '') parts.push({ type: 'reasoning', text: thinking, state: 'done' })
  if (content !== '') parts.push({ type: 'text', text: content, state: 'done' })
  parts.push(...toolCalls.map((call) => toToolPart(call, results.get(call.id))))
  return parts
}

function toToolPart(call: ToolCall, result: ToolResultMessage | undefined): DynamicToolUIPart {
  const { id: toolCallId, name: toolName, arguments: input } = call
  const base = { type: 'dynamic-tool', toolName, toolCallId, input } as const
  if (result === undefined) return { ...base, state: 'input-available' }
  const { content, isError = false } = result
  if (isError) return { ...base, state: 'output-error', errorText: toText(content) }
  return { ...base, state: 'output-available', output: toOutput(content) }
}

function toText(content: ModelOutput): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`))
    .join('\n')
}

/** What the model has read; bytes become addresses. */
function toOutput(content: ModelOutput): unknown {
  if (typeof content === 'string') return content
  return content.map((part) =>
    part.type === 'text'
      ? part
      : { type: 'media', mediaType: part.mediaType, url: toAddress(part.data, part.mediaType) },
  )
}
