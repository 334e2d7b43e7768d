// The side of the browser, without a framework. In React it is `useChat` with the same transport.
import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  type UIMessage,
} from 'ai'

type Fetch = (address: string, init?: RequestInit) => Promise<Response>

export interface ChatClientOptions {
  /** Called after each change. Default: nothing. */
  readonly onChange?: () => void
  /** Default: that of the browser. */
  readonly fetch?: Fetch
}

/** What the server knows of a chat. */
export interface StoredChat {
  /** Of the session. */
  readonly status: string
  readonly messages: UIMessage[]
}

/** One chat. The server has the conversation, so a turn sends only what is new. */
export class ChatClient extends AbstractChat<UIMessage> {
  readonly #fetch: Fetch
  #sessionStatus = 'idle'

  /** @param chatId The session. */
  constructor(chatId: string, options: ChatClientOptions = {}) {
    const { onChange = () => {}, fetch = fetchFromNetwork } = options
    const transport = new DefaultChatTransport({
      api: '/api/chat',
      fetch: async (input, init) => accepted(await fetch(addressOf(input), init)),
      prepareSendMessagesRequest: ({ id, messages }) => ({
        body: { id, text: textOf(messages.at(-1)) },
      }),
    })
    super({ id: chatId, transport, state: new ObservedState(onChange) })
    this.#fetch = fetch
  }

  get isWorking(): boolean {
    return this.status === 'submitted' || this.status === 'streaming'
  }

  /** The last run was stopped before its end. */
  get isStopped(): boolean {
    return this.#sessionStatus === 'aborted'
  }

  /** Shows what was said before, and the answer under way from its start. */
  async load(): Promise<void> {
    await this.refresh()
    await this.resumeStream()
    await this.refresh()
  }

  /** The answer grows in `messages`. @throws {Error} with the sentence of the server. */
  async say(text: string): Promise<void> {
    await this.sendMessage({ text })
    if (this.error !== undefined) throw this.error
    await this.refresh()
  }

  /** Ends the answer under way. */
  async stopAgent(): Promise<void> {
    await this.#post('stop', {})
  }

  /** The conversation as it is stored. */
  async refresh(): Promise<void> {
    const response = await accepted(await this.#fetch(`/api/chat/${this.id}`))
    const { status, messages } = (await response.json()) as StoredChat
    this.#sessionStatus = status
    if (!this.isWorking && this.status !== 'error') this.messages = messages
  }

  async #post(path: string, body: object): Promise<void> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    await accepted(await this.#fetch(`/api/chat/${this.id}/${path}`, init))
  }
}

/** Says when something has changed, as the state of `useChat` does to React. */
class ObservedState implements ChatState<UIMessage> {
  readonly #onChange: () => void
  #status: ChatStatus = 'ready'
  #error: Error | undefined
  #messages: UIMessage[] = []

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get status(): ChatStatus {
    return this.#status
  }

  set status(status: ChatStatus) {
    this.#status = status
    this.#onChange()
  }

  get error(): Error | undefined {
    return this.#error
  }

  set error(error: Error | undefined) {
    this.#error = error
    this.#onChange()
  }

  get messages(): UIMessage[] {
    return this.#messages
  }

  set messages(messages: UIMessage[]) {
    this.#messages = messages
    this.#onChange()
  }

  pushMessage(message: UIMessage): void {
    this.messages = [...this.#messages, message]
  }

  popMessage(): void {
    this.messages = this.#messages.slice(0, -1)
  }

  replaceMessage(index: number, message: UIMessage): void {
    this.messages = this.#messages.with(index, this.snapshot(message))
  }

  snapshot<T>(thing: T): T {
    return structuredClone(thing)
  }
}

const fetchFromNetwork: Fetch = (address, init) => globalThis.fetch(address, init)

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
