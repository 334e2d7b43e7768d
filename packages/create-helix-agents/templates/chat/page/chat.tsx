import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { useState } from 'react'
import { createTransport } from './transport.ts'

const transport = createTransport()

interface ChatProps {
  readonly id: string
  /** What was said before. */
  readonly messages: UIMessage[]
}

export function Chat({ id, messages: before }: ChatProps) {
  const chat = useChat({ id, messages: before, transport, resume: before.length > 0 })
  const [text, setText] = useState('')
  const isWorking = chat.status === 'submitted' || chat.status === 'streaming'
  const send = (): void => {
    if (text.trim() === '' || isWorking) return
    setText('')
    void chat.sendMessage({ text })
  }
  const stop = (): void => {
    const headers = { 'content-type': 'application/json' }
    void fetch(`/api/chat/${id}/stop`, { method: 'POST', headers, body: '{}' })
  }
  return (
    <>
      <div role="log" aria-label="Conversation" aria-busy={isWorking}>
        {chat.messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </div>
      {chat.error && <p className="error">{chat.error.message}</p>}
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
        {isWorking ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </>
  )
}

function Message({ message }: { readonly message: UIMessage }) {
  return (
    <article className={`message ${message.role}`}>
      {message.parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </article>
  )
}

/** One part of a message. A tool call is a line: its name, and how it stands. */
function Part({ part }: { readonly part: UIMessage['parts'][number] }) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type !== 'dynamic-tool') return null
  const name = part.toolName.split('__').at(-1)
  if (part.state === 'output-error') return <p className="tool">{`✗ ${name}: ${part.errorText}`}</p>
  return <p className="tool">{`${part.state === 'output-available' ? '✓' : '▸'} ${name}`}</p>
}
