import type { Message } from '@helix-agents/core'
import type { PlacedCall } from '../ports.ts'

/** Calls at the end of a conversation that have no result, since an earlier run stopped in between. */
export function findOpenCalls(messages: readonly Message[]): readonly PlacedCall[] {
  const last = messages.findLastIndex((message) => message.role !== 'tool')
  const message = messages[last]
  if (message?.role !== 'assistant') return []
  const answered = new Set(
    messages
      .slice(last + 1)
      .flatMap((result) => (result.role === 'tool' ? [result.toolCallId] : [])),
  )
  return (message.toolCalls ?? [])
    .map((call, index) => ({ call, index, isRecovered: true, isJournaled: false, asks: false }))
    .filter(({ call }) => !answered.has(call.id))
}
