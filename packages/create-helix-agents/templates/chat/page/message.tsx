import type { UIMessage } from 'ai'
import { type Decision, RequestCard } from './request-card.tsx'

interface MessageProps {
  readonly message: UIMessage
  readonly onDecide: (decision: Decision) => void
}

/** What the user or the agent said, and the calls of tools. */
export function Message({ message, onDecide }: MessageProps) {
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

/** Whether a call waits for the user. */
export const isOpen = (part: UIPart): boolean =>
  part.type === 'dynamic-tool' && part.state === 'approval-requested'
