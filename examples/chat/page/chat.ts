import type { UIMessage } from 'ai'
import { createChatClient } from '../client.ts'

const place = find('#messages', HTMLElement)
const failure = find('#failure', HTMLElement)
const form = find('form', HTMLFormElement)
const input = find('input', HTMLInputElement)
const button = find('button', HTMLButtonElement)

// A chat is kept by its address: a reload shows it again.
location.hash ||= crypto.randomUUID()
const client = createChatClient(location.hash.slice(1))

for (const message of await client.history()) show(message, addMessage())
await follow(client.resume(), place.lastElementChild ?? undefined)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = input.value
  form.reset()
  show({ id: '', role: 'user', parts: [{ type: 'text', text }] }, addMessage())
  void follow(client.send(text))
})

/** An answer that was begun before the page was loaded is shown in its place. */
async function follow(answer: AsyncIterable<UIMessage>, before?: Element): Promise<void> {
  failure.textContent = ''
  button.disabled = true
  let element = before?.classList.contains('assistant') === true ? before : undefined
  try {
    for await (const message of answer) show(message, (element ??= addMessage()))
  } catch (error) {
    failure.textContent = error instanceof Error ? error.message : 'the connection was lost'
  } finally {
    button.disabled = false
    input.focus()
  }
}

function addMessage(): Element {
  return place.appendChild(document.createElement('div'))
}

/** Text only: what a model, a tool or a user wrote is never markup. */
function show(message: UIMessage, element: Element): void {
  element.className = message.role
  element.replaceChildren(
    ...message.parts.flatMap((part) => {
      if (part.type === 'text') return paragraph('text', part.text)
      if (part.type !== 'dynamic-tool') return []
      const name = part.toolName.split('__').at(-1) ?? part.toolName
      const end = part.state === 'output-error' ? `✗ ${part.errorText}` : ''
      return paragraph('tool', `${part.state === 'output-available' ? '✓' : '▸'} ${name} ${end}`)
    }),
  )
}

function paragraph(className: string, text: string): HTMLElement {
  const element = document.createElement('p')
  element.className = className
  element.textContent = text
  return element
}

function find<T extends Element>(selector: string, type: new () => T): T {
  const element = document.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}
