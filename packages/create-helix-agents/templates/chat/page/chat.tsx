import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { useState } from 'react'
import { type Decision, RequestCard } from './request-card.tsx'
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
  const [text, setText] = useState('')
  const isWorking = chat.status === 'submitted' || chat.status === 'streaming'
  const isWaiting = chat.messages.at(-1)?.parts.some(isOpen) ?? false
  const send = (): void => {
    if (text.trim() === '' || isWorking || isWaiting) return
    setText('')
    void chat.sendMessage({ text })
  }
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
        {isWorking || isWaiting ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </>
  )
}

interface MessageProps {
  readonly message: UIMessage
  readonly onDecide: (decision: Decision) => void
}

function Message({ message, onDecide }: MessageProps) {
  return (
    <article className={`message ${message.role}`}>
      {message.parts.map((part, index) => (
        <Part key={index} part={part} onDecide={onDecide} />
      ))}
    </article>
  )
}

type UIPart = UIMessage['parts'][number]

/** One part of a message. A tool call is a line, its name and its state, or a card while it waits. */
function Part({ part, onDecide }: { readonly part: UIPart } & Pick<MessageProps, 'onDecide'>) {
  if (part.type === 'text') return <p>{part.text}</p>
  if (part.type !== 'dynamic-tool') return null
  if (isOpen(part)) return <RequestCard part={part} onDecide={onDecide} />
  const name = part.toolName.split('__').at(-1)
  if (part.state === 'output-error') return <p className="tool">{`✗ ${name}: ${part.errorText}`}</p>
  if (part.state === 'output-denied') {
    return <p className="tool">{`✗ ${name} denied: ${part.approval.reason ?? 'no reason'}`}</p>
  }
  return <p className="tool">{`${part.state === 'output-available' ? '✓' : '▸'} ${name}`}</p>
}

const isOpen = (part: UIPart): boolean =>
  part.type === 'dynamic-tool' && part.state === 'approval-requested'

/** The conversation as the server has it. */
export async function storedMessages(id: string): Promise<UIMessage[]> {
  return (await (await fetch(`/api/chat/${id}`)).json()) as UIMessage[]
}
