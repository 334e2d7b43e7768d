import type { AssistantMessage, Message, ToolResultMessage } from '../llm/messages.ts'

/**
 * A conversation in which every tool call has its result behind it, and every result its call.
 * Calls and results without the other are left out. What is whole already comes back as it is.
 */
export function withWholeCalls(messages: readonly Message[]): readonly Message[] {
  const kept: Message[] = []
  let changed = false
  for (let index = 0; index < messages.length;) {
    const message = messages[index]
    if (message === undefined) break
    const results = resultsBehind(messages, index)
    const group = message.role === 'tool' ? [] : wholeGroup(message, results)
    // A result in front of no answer is alone.
    const taken = message.role === 'tool' ? 1 : 1 + results.length
    changed ||= group.length !== taken || group[0] !== message
    kept.push(...group)
    index += taken
  }
  return changed ? kept : messages
}

function resultsBehind(messages: readonly Message[], index: number): ToolResultMessage[] {
  const results: ToolResultMessage[] = []
  for (let at = index + 1; at < messages.length; at += 1) {
    const message = messages[at]
    if (message?.role !== 'tool') break
    results.push(message)
  }
  return results
}

function wholeGroup(message: Message, results: readonly ToolResultMessage[]): readonly Message[] {
  if (message.role !== 'assistant') return [message]
  const { toolCalls = [] } = message
  const answered = new Set(results.map(({ toolCallId }) => toolCallId))
  const calls = toolCalls.filter(({ id }) => answered.has(id))
  if (calls.length === toolCalls.length && results.length === toolCalls.length) {
    return [message, ...results]
  }
  const called = new Set(calls.map(({ id }) => id))
  return [
    ...withCalls(message, calls),
    ...results.filter(({ toolCallId }) => called.has(toolCallId)),
  ]
}

function withCalls(
  message: AssistantMessage,
  toolCalls: NonNullable<AssistantMessage['toolCalls']>,
): readonly AssistantMessage[] {
  const { toolCalls: all = [], providerMetadata: _metadata, ...rest } = message
  if (toolCalls.length === all.length) return [message]
  // What the adapter recorded is about all the calls.
  if (toolCalls.length > 0) return [{ ...rest, toolCalls }]
  return message.content === '' ? [] : [rest]
}
