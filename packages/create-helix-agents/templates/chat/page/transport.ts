import { DefaultChatTransport, type UIMessage } from 'ai'

export const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''

/** Sends the last message only: the server has those before. */
export const createTransport = (fetch?: typeof globalThis.fetch) =>
  new DefaultChatTransport<UIMessage>({
    api: '/api/chat',
    ...(fetch !== undefined && { fetch }),
    prepareSendMessagesRequest: ({ id, messages }) => ({
      body: { id, text: textOf(messages.at(-1)) },
    }),
  })
