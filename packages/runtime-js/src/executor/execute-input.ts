import { SessionError, type UserMessage } from '@helix-agents/core'
import {
  describeContentProblem,
  isMessage,
  type SessionLabels,
  sizeProblem,
} from '@helix-agents/core/runtime'
import type { ExecuteInput } from './executor-options.ts'

/**
 * What the user says, as messages.
 * @throws {SessionError} `invalid-message`: it may come straight from a request.
 */
export function toUserMessages(input: ExecuteInput, sessionId: string): readonly UserMessage[] {
  const message: unknown = isObject(input) ? input.message : input
  const given: unknown = typeof message === 'string' ? { role: 'user', content: message } : message
  const messages: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (messages.length > 0 && messages.every(isUserMessage)) {
    for (const each of messages) assertSize(each, sessionId)
    return messages
  }
  const detail = 'a message must be text, or an object with role user and content, or some of these'
  throw new SessionError('invalid-message', sessionId, detail)
}

function isUserMessage(message: unknown): message is UserMessage {
  return isMessage(message) && message.role === 'user'
}

function assertSize(message: UserMessage, sessionId: string): void {
  const problem = sizeProblem(message)
  if (problem === undefined || problem === 'id') return
  const detail = `a message is ${describeContentProblem(problem)}`
  throw new SessionError('invalid-message', sessionId, detail)
}

function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null
}

/** The labels of a new session. */
export function toLabels({ userId, tags, metadata }: SessionLabels): SessionLabels {
  return {
    ...(userId !== undefined && { userId }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  }
}
