import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, type UIMessage } from 'ai'

class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[]

  constructor(messages: UIMessage[]) {
    this.messages = messages
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message]
  }

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, this.snapshot(message))
  }

  snapshot = <T>(thing: T): T => structuredClone(thing)
}

/** The class behind `useChat`; React only adds its own state. */
export class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    super({ ...init, state: new State(messages) })
  }

  /** The parts of the last message that are calls. */
  get calls() {
    return (this.lastMessage?.parts ?? []).filter((part) => part.type === 'dynamic-tool')
  }
}
