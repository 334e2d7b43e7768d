// The side of the browser, without a framework. In React it is `useChat` with this transport.
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'

export interface ChatClient {
  /** What was said before. */
  history(): Promise<UIMessage[]>
  /** The answer, as it grows. */
  send(text: string): AsyncIterable<UIMessage>
  /** The rest of an answer that is under way; nothing when there is none. */
  resume(): AsyncIterable<UIMessage>
}

type Fetch = (address: string, init?: RequestInit) => Promise<Response>

const fetchFromNetwork: Fetch = (address, init) => globalThis.fetch(address, init)

/** @param chatId The session. */
export function createChatClient(chatId: string, fetch = fetchFromNetwork): ChatClient {
  const transport = new DefaultChatTransport({
    api: '/api/chat',
    fetch: async (input, init) => accepted(await fetch(addressOf(input), init)),
    prepareSendMessagesRequest: ({ id, messages }) => ({
      body: { id, text: textOf(messages.at(-1)) },
    }),
  })
  return {
    history: async () => {
      const response = await accepted(await fetch(`/api/chat/${chatId}`))
      return (await response.json()) as UIMessage[]
    },
    async *send(text) {
      const message: UIMessage = { id: '', role: 'user', parts: [{ type: 'text', text }] }
      const stream = await transport.sendMessages({
        chatId,
        messages: [message],
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      })
      yield* readUIMessageStream({ stream, terminateOnError: true })
    },
    async *resume() {
      const stream = await transport.reconnectToStream({ chatId })
      if (stream !== null) yield* readUIMessageStream({ stream, terminateOnError: true })
    },
  }
}

/** @throws {Error} with the sentence of the server, which the page shows. */
async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const text = await response.text()
  throw new Error(messageOf(text) ?? `the server answered ${response.status}`)
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { message?: string } } | null)?.error?.message
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

export function textOf(message: UIMessage | undefined): string {
  return message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
}

function addressOf(input: string | URL | Request): string {
  if (typeof input === 'string') return input
  return input instanceof URL ? input.href : input.url
}
