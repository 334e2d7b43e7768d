import type { SessionLabels, UserMessage } from '@helix-agents/core'
import type { ExecuteInput, ExecuteOptions } from './executor-options.ts'

/** What the user says, as messages. */
export function toUserMessages(input: ExecuteInput): readonly UserMessage[] {
  const message = typeof input === 'string' ? input : input.message
  if (typeof message === 'string') return [{ role: 'user', content: message }]
  return isList(message) ? message : [message]
}

function isList(message: UserMessage | readonly UserMessage[]): message is readonly UserMessage[] {
  return Array.isArray(message)
}

/** The labels of a new session. */
export function toLabels({ userId, tags, metadata }: ExecuteOptions): SessionLabels {
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
