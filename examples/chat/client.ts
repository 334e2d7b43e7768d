// The side of the browser, without a framework. In React it is `useChat` with the same transport.
import { toRequestAnswers } from '@helix-agents/ai-sdk'
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
  /** Messages of the user that the agent has not read. */
  readonly queued: readonly string[]
}

/** What a user decides about a call. */
export interface Decision {
  readonly approved: boolean
  readonly reason?: string
  /** Replaces the arguments of the call. Default: as asked. */
  readonly input?: unknown
}

/** One chat. The server has the conversation, so a turn sends only what is new. */
export class ChatClient extends AbstractChat<UIMessage> {
  readonly #fetch: Fetch
  readonly #onChange: () => void
  /** Of this page: what was read from the server before one is old. */
  #requests = 0
  #stored: StoredChat = { status: 'idle', messages: [], queued: [] }

  /** @param chatId The session. */
  constructor(chatId: string, options: ChatClientOptions = {}) {
    const { onChange = () => {}, fetch = fetchFromNetwork } = options
    const transport = new DefaultChatTransport({
      api: '/api/chat',
      fetch: async (input, init) => accepted(await fetch(addressOf(input), init)),
      prepareSendMessagesRequest: ({ id, messages }) => ({ body: turnOf(id, messages) }),
    })
    super({ id: chatId, transport, state: new ObservedState(onChange) })
    this.#fetch = fetch
    this.#onChange = onChange
  }

  get isWorking(): boolean {
    return this.status === 'submitted' || this.status === 'streaming'
  }

  /** Of the session, as far as it is known here. */
  get sessionStatus(): string {
    return this.#stored.status
  }

  /** Messages that the agent has not read. */
  get queued(): readonly string[] {
    return this.#stored.queued
  }

  /** Shows what was said before, and the answer under way from its start. */
  async load(): Promise<void> {
    await this.refresh()
    if (this.isWorking || this.sessionStatus !== 'running') return
    await this.resumeStream()
    await this.refresh()
  }

  /** The answer grows in `messages`. @throws {Error} with the sentence of the server. */
  async say(text: string): Promise<void> {
    this.#requests += 1
    await this.#finish(this.sendMessage({ text }))
  }

  /** Says something to the agent while it works. @throws {Error} */
  async steer(text: string): Promise<void> {
    await this.#post('steer', { text })
    if (this.isWorking) await this.refresh()
    else await this.load()
  }

  /** Answers a call that waits. What is not accepted leaves it open. @throws {Error} */
  async decide(requestId: string, { input, ...decision }: Decision): Promise<void> {
    // Without edits `useChat` does it: its message waits in the last step, and goes on from there.
    if (input === undefined && !this.isWorking) {
      this.#requests += 1
      await this.addToolApprovalResponse({ id: requestId, ...decision })
      return this.#finish(this.sendMessage())
    }
    const { approved, reason } = decision
    const answer = { requestId, decision: approved ? 'approve' : 'deny', reason, input }
    await this.#post('answers', { answers: [answer] })
    await this.load()
  }

  /** Ends the answer under way. */
  async stopAgent(): Promise<void> {
    await this.#post('stop', {})
    await this.refresh()
  }

  /** The conversation as it is stored. */
  async refresh(): Promise<void> {
    const before = this.#requests
    const response = await accepted(await this.#fetch(`/api/chat/${this.id}`))
    const stored = (await response.json()) as StoredChat
    if (before !== this.#requests) return
    this.#stored = stored
    if (this.isWorking) this.#onChange()
    else this.messages = stored.messages
  }

  async #finish(request: Promise<void>): Promise<void> {
    await request
    const { error } = this
    this.clearError()
    await this.refresh()
    if (error !== undefined) throw error
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

/** What is new: answers to calls that wait, or what the user says. */
function turnOf(id: string, messages: readonly UIMessage[]): object {
  const last = messages.at(-1)
  const answers = toRequestAnswers(last).map(({ requestId, answer }) => ({ requestId, ...answer }))
  return answers.length > 0 ? { id, answers } : { id, text: textOf(last) }
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
