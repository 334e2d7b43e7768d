import { requestOf, type UIRequest } from '@helix-agents/ai-sdk'
import type { DynamicToolUIPart } from 'ai'
import type { Decision } from '../client.ts'
import { make, makeButton } from './elements.ts'

export type Decide = (requestId: string, decision: Decision) => Promise<void>

/** A call that waits for the user: what it would do, and the ways to answer. */
export function makeCard(part: DynamicToolUIPart, decide: Decide): Element | undefined {
  const request = requestOf(part)
  if (part.state !== 'approval-requested' || request === undefined) return undefined
  const title = make('h2', { id: `title-${request.requestId}`, textContent: request.preview.title })
  const card = make('section', { className: 'card' }, title, ...bodyOf(request))
  card.setAttribute('aria-labelledby', title.id)
  card.append(new CardForm(card, { request, input: part.input, decide }).element)
  return card
}

function bodyOf({ preview: { body, format, truncated = false }, agentPath }: UIRequest): Element[] {
  const path = agentPath.slice(1).join(' → ')
  const asker =
    path === '' ? [] : [make('p', { className: 'quiet', textContent: `Asked by ${path}.` })]
  if (body === undefined) return asker
  const box = make('pre', { className: format ?? 'text' })
  // It may scroll, and then the keyboard has to reach it.
  box.tabIndex = 0
  box.role = 'region'
  box.ariaLabel = format === 'diff' ? 'Changes' : 'Details'
  for (const line of body.split('\n')) box.append(lineOf(line, format))
  const cut = make('p', { className: 'quiet', textContent: 'There is more than is shown here.' })
  return [...asker, box, ...(truncated ? [cut] : [])]
}

/** The sign at the start of a line says what the colour says. */
function lineOf(line: string, format: string | undefined): Element {
  const isChange = format === 'diff' && !/^(?:\+\+\+|---)/.test(line)
  const kinds: Readonly<Record<string, string>> = isChange ? { '+': 'added', '-': 'removed' } : {}
  return make('span', { className: kinds[line[0] ?? ''] ?? '', textContent: line })
}

interface CardFormParts {
  readonly request: UIRequest
  readonly input: unknown
  readonly decide: Decide
}

class CardForm {
  readonly element: HTMLElement
  readonly #card: HTMLElement
  readonly #parts: CardFormParts
  readonly #failure = make('p', { className: 'failure' })
  readonly #reason = make('input')
  readonly #editor = make('textarea', { className: 'editor' })
  readonly #edit: HTMLButtonElement
  #isEditing = false

  constructor(card: HTMLElement, parts: CardFormParts) {
    this.#card = card
    this.#parts = parts
    this.#failure.role = 'alert'
    this.#reason.type = 'text'
    this.#reason.maxLength = 1000
    this.#reason.ariaLabel = 'Reason for a denial'
    this.#reason.placeholder = 'Why not? (optional)'
    this.#editor.ariaLabel = 'Input of the call, as JSON'
    this.#editor.spellcheck = false
    this.#editor.hidden = true
    this.#edit = makeButton('Edit', () => this.#startEditing())
    const approve = makeButton('Approve', () => void this.#approve(), 'primary')
    const deny = makeButton('Deny', () => void this.#deny())
    const answers = make('div', { className: 'answers' }, approve, this.#edit, deny, this.#reason)
    this.element = make('div', {}, this.#editor, answers, this.#failure)
  }

  #startEditing(): void {
    this.#isEditing = true
    this.#editor.hidden = false
    this.#editor.value = JSON.stringify(this.#parts.input, undefined, 2)
    this.#editor.rows = Math.min(16, this.#editor.value.split('\n').length)
    this.#edit.hidden = true
    this.#editor.focus()
  }

  async #approve(): Promise<void> {
    if (!this.#isEditing) return this.#decide({ approved: true })
    try {
      await this.#decide({ approved: true, input: JSON.parse(this.#editor.value) as unknown })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      this.#fail('This is not JSON.')
    }
  }

  async #deny(): Promise<void> {
    const reason = this.#reason.value.trim()
    await this.#decide({ approved: false, ...(reason !== '' && { reason }) })
  }

  async #decide(decision: Decision): Promise<void> {
    const { request, decide } = this.#parts
    this.#failure.textContent = ''
    const buttons = [...this.#card.querySelectorAll('button')]
    for (const button of buttons) button.disabled = true
    try {
      await decide(request.requestId, decision)
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : 'the connection was lost')
    } finally {
      for (const button of buttons) button.disabled = false
    }
  }

  #fail(sentence: string): void {
    this.#failure.textContent = sentence
  }
}
