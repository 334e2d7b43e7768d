import { hasRequestAnswers, toRequestAnswers } from '@helix-agents/ai-sdk'
import { DefaultChatTransport, type UIMessage } from 'ai'

/** Arguments that the user has edited, by the id of the request. */
export const edits = new Map<string, unknown>()

export const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''

/** What is new: answers to calls that wait, or what the user says. The server has the rest. */
function turnOf(id: string, last: UIMessage | undefined): object {
  const answers = toRequestAnswers(last).map(({ requestId, answer }) => ({
    requestId,
    ...answer,
    ...(edits.has(requestId) && { input: edits.get(requestId) }),
  }))
  return answers.length > 0 ? { id, answers } : { id, text: textOf(last) }
}

/** For `useChat`, and for `Chat` in a test. */
export const chatOptions = (id: string, fetch?: typeof globalThis.fetch) => ({
  id,
  transport: new DefaultChatTransport<UIMessage>({
    api: '/api/chat',
    ...(fetch !== undefined && { fetch }),
    prepareSendMessagesRequest: ({ messages }) => ({ body: turnOf(id, messages.at(-1)) }),
  }),
  sendAutomaticallyWhen: hasRequestAnswers,
})
