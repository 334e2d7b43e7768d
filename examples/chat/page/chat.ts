import { ChatClient } from '../client.ts'
import { find, make, makeButton } from './elements.ts'
import { showMessages } from './show-messages.ts'

const EXAMPLES = ['Buy oranges.', 'Call Ada on Friday.']

const messages = find('#messages', HTMLElement)
const empty = find('#empty', HTMLElement)
const failure = find('#failure', HTMLElement)
const status = find('#status', HTMLElement)
const form = find('form', HTMLFormElement)
const input = find('textarea', HTMLTextAreaElement)
const sendButton = find('#send', HTMLButtonElement)
const stopButton = find('#stop', HTMLButtonElement)

// A chat is kept by its address: a reload shows it again.
location.hash ||= crypto.randomUUID()
addEventListener('hashchange', () => location.reload())
const client = new ChatClient(location.hash.slice(1), { onChange: show })

find('#empty ul', HTMLElement).append(
  ...EXAMPLES.map((text) =>
    make(
      'li',
      {},
      makeButton(text, () => void say(text)),
    ),
  ),
)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = input.value
  if (text.trim() === '' || client.isWorking) return
  form.reset()
  void say(text)
})
input.addEventListener('keydown', (event) => {
  // While a text is composed, as in Japanese, Enter ends the word.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  form.requestSubmit()
})
stopButton.addEventListener('click', () => {
  stopButton.disabled = true
  void attempt(() => client.stopAgent())
  input.focus()
})
await attempt(() => client.load())
input.focus()

function say(text: string): Promise<void> {
  return attempt(() => client.say(text))
}

/** What went wrong is shown, until something else is tried. */
async function attempt(work: () => Promise<void>): Promise<void> {
  failure.textContent = ''
  client.clearError()
  try {
    await work()
  } catch (error) {
    failure.textContent = error instanceof Error ? error.message : 'the connection was lost'
  }
  show()
}

function show(): void {
  const { isWorking } = client
  const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 40
  // A screen reader reads the answer when it is whole, not each word of it.
  messages.ariaBusy = String(isWorking)
  showMessages(messages, client.messages)
  empty.hidden = isWorking || client.messages.length > 0
  sendButton.disabled = isWorking
  if (!isWorking) stopButton.disabled = false
  stopButton.hidden = !isWorking
  setStatus(isWorking ? 'The agent is working.' : client.isStopped ? 'Stopped.' : '')
  if (isAtEnd) scrollTo(0, document.body.scrollHeight)
}

/** The same text again would be read again. */
function setStatus(text: string): void {
  if (status.textContent !== text) status.textContent = text
}
