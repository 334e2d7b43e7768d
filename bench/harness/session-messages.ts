import type { Message } from '@helix-agents/core'

const TEXT = 'The quick brown fox jumps over the lazy dog, "twice".\n'.repeat(17)

/** The tool call of every step. */
export const call = { toolName: 'write_file', arguments: { path: '/notes/today.md' } } as const

/** About a kilobyte of a model's answer. */
export function answer(id: string): Message {
  const toolCalls = [{ id, name: call.toolName, arguments: call.arguments }]
  return { role: 'assistant', content: TEXT, toolCalls }
}

/** About a kilobyte of a tool's result. */
export function toolResult(id: string): Message {
  return { role: 'tool', toolCallId: id, toolName: call.toolName, content: TEXT }
}
