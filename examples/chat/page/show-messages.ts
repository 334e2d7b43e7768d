import type { UIMessage } from 'ai'
import { make } from './elements.ts'

type Part = UIMessage['parts'][number]

/** What an element shows, so that only what has changed is made anew. */
const shown = new WeakMap<Node, string>()

/** Shows the conversation; an element whose content is the same stays, and keeps the focus in it. */
export function showMessages(place: Element, messages: readonly UIMessage[]): void {
  replaceChanged(place, messages, showMessage)
}

function showMessage(message: UIMessage, before: Element | undefined): Element {
  const isUser = message.role === 'user'
  const element =
    before?.classList.contains(message.role) === true
      ? before
      : make('article', { className: `message ${message.role}` })
  element.ariaLabel = isUser ? 'You' : 'Agent'
  const parts = message.parts.filter(isShown)
  replaceChanged(element, parts, showPart)
  return element
}

function isShown({ type }: Part): boolean {
  return type === 'text' || type === 'dynamic-tool'
}

function showPart(part: Part): Element {
  if (part.type === 'text') return make('p', { textContent: part.text })
  if (part.type !== 'dynamic-tool') return make('p')
  const name = part.toolName.split('__').at(-1) ?? part.toolName
  const [mark, state] = statesOf(part.state)
  const line = make('p', { className: 'tool', textContent: `${mark} ${name}` })
  const failure = part.state === 'output-error' ? `: ${part.errorText}` : ''
  const ending = make('span', { textContent: ` ${state}${failure}` })
  if (failure === '') ending.className = 'hidden-name'
  line.append(ending)
  return line
}

function statesOf(state: string): readonly [mark: string, name: string] {
  if (state === 'output-available') return ['✓', 'done']
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
