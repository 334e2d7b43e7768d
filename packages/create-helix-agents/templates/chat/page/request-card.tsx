import { requestOf } from '@helix-agents/ai-sdk'
import type { DynamicToolUIPart } from 'ai'
import { useState } from 'react'
import { edits } from './transport.ts'

/** What the user decides about a call. */
export interface Decision {
  readonly id: string
  readonly approved: boolean
  readonly reason?: string
}

interface CardProps {
  readonly part: DynamicToolUIPart
  readonly onDecide: (decision: Decision) => void
}

/** A call that waits for the user: what it would do, and the ways to answer. */
export function RequestCard({ part, onDecide }: CardProps) {
  const request = requestOf(part)
  const [draft, setDraft] = useState<string>()
  const [reason, setReason] = useState('')
  if (request === undefined) return null
  const { requestId: id, preview } = request
  const approve = (): void => {
    if (draft !== undefined) edits.set(id, JSON.parse(draft))
    onDecide({ id, approved: true })
  }
  const deny = (): void => {
    edits.delete(id)
    onDecide({ id, approved: false, ...(reason !== '' && { reason }) })
  }
  return (
    <section className="card" aria-label={preview.title}>
      <h2>{preview.title}</h2>
      {preview.body !== undefined && <Details body={preview.body} format={preview.format} />}
      {draft !== undefined && (
        <textarea
          aria-label="Input of the call, as JSON"
          rows={8}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
      )}
      <div className="answers">
        <button onClick={approve} disabled={draft !== undefined && !isJson(draft)}>
          Approve
        </button>
        {draft === undefined && (
          <button onClick={() => setDraft(JSON.stringify(edits.get(id) ?? part.input, null, 2))}>
            Edit
          </button>
        )}
        <button onClick={deny}>Deny</button>
        <input
          aria-label="Reason for a denial"
          placeholder="Why not? (optional)"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </section>
  )
}

/** A diff, or the arguments. The sign at the start of a line says what its colour says. */
function Details({
  body,
  format,
}: {
  readonly body: string
  readonly format?: string | undefined
}) {
  return (
    <pre tabIndex={0}>
      {body.split('\n').map((line, index) => (
        <span key={index} className={format === 'diff' ? kindOf(line) : ''}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  )
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---)/.test(line)) return ''
  return { '+': 'added', '-': 'removed' }[line[0] ?? ''] ?? ''
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // While the user types.
    return false
  }
}
