import { SessionError, type SessionLabels, type UserMessage } from '@helix-agents/core'
import type { ExecuteInput, ExecuteOptions } from './executor-options.ts'

/**
 * What the user says, as messages.
 * @throws {SessionError} `invalid-message`: it may come straight from a request.
 */
export function toUserMessages(input: ExecuteInput, sessionId: string): readonly UserMessage[] {
  const message: unknown = isObject(input) ? input.message : input
  if (typeof message === 'string') return [{ role: 'user', content: message }]
  const messages: readonly unknown[] = Array.isArray(message) ? message : [message]
  if (messages.length > 0 && messages.every(isUserMessage)) return messages
  const detail = 'a message must be text, or an object with role user and content, or some of these'
  throw new SessionError('invalid-message', sessionId, detail)
}

function isUserMessage(message: unknown): message is UserMessage {
  if (!isObject(message) || !('role' in message) || !('content' in message)) return false
  return message.role === 'user' && typeof message.content === 'string'
}

function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null
}

/** The labels of a new session. */
export function toLabels({ userId, tags, metadata }: ExecuteOptions): SessionLabels {
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
