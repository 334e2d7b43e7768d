import type { Message, ToolCall } from '@helix-agents/core'

/** One call and its place in the step. */
export interface PlacedCall {
  readonly call: ToolCall
  readonly index: number
  /** The step was under way when an earlier run ended. */
  readonly isRecovered: boolean
  /** When the journal says that a recovered call was started. */
  readonly startedAt?: number
}

/** Calls at the end of a conversation that have no result: an earlier run stopped in between. */
export function findOpenCalls(messages: readonly Message[]): readonly PlacedCall[] {
  const last = messages.findLastIndex((message) => message.role !== 'tool')
  const message = messages[last]
  if (message?.role !== 'assistant') return []
  const answered = new Set(
    messages.slice(last + 1).map((result) => (result.role === 'tool' ? result.toolCallId : '')),
  )
  return (message.toolCalls ?? [])
    .map((call, index) => ({ call, index, isRecovered: true }))
    .filter(({ call }) => !answered.has(call.id))
}
