import type { DynamicToolUIPart, UIMessage } from 'ai'
import { make } from './elements.ts'
import { type Decide, makeCard } from './request-card.ts'

type Part = UIMessage['parts'][number]

/** What an element shows, so that only what has changed is made anew. */
const shown = new WeakMap<Node, string>()

/** Shows the conversation; an element whose content is the same stays, and keeps the focus in it. */
export function showMessages(place: Element, messages: readonly UIMessage[], decide: Decide): void {
  replaceChanged(place, messages, (message, before) => showMessage(message, before, decide))
}

function showMessage(message: UIMessage, before: Element | undefined, decide: Decide): Element {
  const isUser = message.role === 'user'
  const element =
    before?.classList.contains(message.role) === true
      ? before
      : make('article', { className: `message ${message.role}` })
  element.ariaLabel = isUser ? 'You' : 'Agent'
  const parts = message.parts.filter(isShown)
  replaceChanged(element, parts, (part) => showPart(part, decide))
  return element
}

function isShown({ type }: Part): boolean {
  return type === 'text' || type === 'dynamic-tool'
}

function showPart(part: Part, decide: Decide): Element {
  if (part.type === 'text') return make('p', { textContent: part.text })
  if (part.type !== 'dynamic-tool') return make('p')
  const card = makeCard(part, decide)
  if (card !== undefined) return card
  const name = part.toolName.split('__').at(-1) ?? part.toolName
  const [mark, state] = statesOf(part.state)
  const line = make('p', { className: 'tool', textContent: `${mark} ${name}` })
  const because = reasonOf(part)
  const ending = make('span', { textContent: ` ${state}${because}` })
  if (because === '') ending.className = 'hidden-name'
  line.append(ending)
  return line
}

function reasonOf(part: DynamicToolUIPart): string {
  if (part.state === 'output-error') return `: ${part.errorText}`
  if (part.state !== 'output-denied') return ''
  const { reason } = part.approval
  return reason === undefined ? ' ' : `: ${reason}`
}

function statesOf(state: DynamicToolUIPart['state']): readonly [mark: string, name: string] {
  if (state === 'output-available') return ['✓', 'done']
  if (state === 'output-denied') return ['✗', 'denied']
  return state === 'output-error' ? ['✗', 'failed'] : ['▸', 'under way']
}

function replaceChanged<T>(
  place: Element,
  items: readonly T[],
  show: (item: T, before: Element | undefined) => Element,
): void {
  for (const [index, item] of items.entries()) {
    const before = place.children[index]
    const content = JSON.stringify(item)
    if (before !== undefined && shown.get(before) === content) continue
    const element = show(item, before)
    shown.set(element, content)
    if (before === undefined) place.append(element)
    else if (before !== element) before.replaceWith(element)
  }
  while (place.children.length > items.length) place.lastElementChild?.remove()
}
