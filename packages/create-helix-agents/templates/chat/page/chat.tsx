import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { useState } from 'react'
import { isOpen, Message } from './message.tsx'
import { chatOptions } from './transport.ts'

interface ChatProps {
  readonly id: string
  /** What was said before. */
  readonly messages: UIMessage[]
}

export function Chat({ id, messages: before }: ChatProps) {
  const chat = useChat({
    ...chatOptions(id),
    messages: before,
    resume: before.length > 0,
    // What the server does not accept is still open there.
    onError: () => void reload(),
  })
  const reload = async (): Promise<void> => chat.setMessages(await storedMessages(id))
  const isWorking = chat.status === 'submitted' || chat.status === 'streaming'
  const isWaiting = chat.messages.at(-1)?.parts.some(isOpen) ?? false
  const send = (text: string): void => void chat.sendMessage({ text })
  const stop = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    await fetch(`/api/chat/${id}/stop`, { method: 'POST', headers, body: '{}' })
    if (!isWaiting) return
    await chat.stop()
    await reload()
  }
  return (
    <>
      <div role="log" aria-label="Conversation" aria-busy={isWorking}>
        {chat.messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            onDecide={(decision) => void chat.addToolApprovalResponse(decision)}
          />
        ))}
      </div>
      {chat.error && (
        <p role="alert" className="error">
          {chat.error.message}
        </p>
      )}
      <Composer isBusy={isWorking || isWaiting} onSend={send} onStop={() => void stop()} />
    </>
  )
}

interface ComposerProps {
  /** The agent works, or waits for an answer: it is stopped before something new is said. */
  readonly isBusy: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

function Composer({ isBusy, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const send = (): void => {
    if (text.trim() === '' || isBusy) return
    setText('')
    onSend(text)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <input
        aria-label="What should I note?"
        placeholder="What should I note?"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button>Send</button>
      )}
    </form>
  )
}

/** The conversation as the server has it. */
export async function storedMessages(id: string): Promise<UIMessage[]> {
  return (await (await fetch(`/api/chat/${id}`)).json()) as UIMessage[]
}
