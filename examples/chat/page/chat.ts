import { ChatClient, type Decision } from '../client.ts'
import { find, make, makeButton } from './elements.ts'
import { showMessages } from './show-messages.ts'

const EXAMPLES = ['Buy oranges.', 'Call Ada on Friday.']
const POLL_MS = 2000

const messages = find('#messages', HTMLElement)
const empty = find('#empty', HTMLElement)
const queued = find('#queued', HTMLElement)
const failure = find('#failure', HTMLElement)
const status = find('#status', HTMLElement)
const form = find('form', HTMLFormElement)
const input = find('textarea', HTMLTextAreaElement)
const sendButton = find('#send', HTMLButtonElement)
const stopButton = find('#stop', HTMLButtonElement)

let isBusy = false

// A chat is kept by its address: a reload shows it again. To set the hash would be a change of it.
if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`)
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
  if (text.trim() === '' || sendButton.disabled) return
  form.reset()
  // A turn under way has its own error.
  if (client.isWorking) void client.steer(text).catch(showFailure)
  else void say(text)
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
// What another page or another process does is seen here as well.
setInterval(() => void follow(), POLL_MS)
addEventListener('focus', () => void follow())

function say(text: string): Promise<void> {
  return attempt(() => client.say(text))
}

/** An edited input that is not accepted stays in its card. */
async function decide(requestId: string, decision: Decision): Promise<void> {
  if (decision.input !== undefined) await client.decide(requestId, decision)
  else await attempt(() => client.decide(requestId, decision))
  input.focus()
}

async function follow(): Promise<void> {
  if (client.isWorking || isBusy || document.hidden) return
  await client.load().catch(() => undefined)
  show()
}

/** What went wrong is shown, until something else is tried. */
async function attempt(work: () => Promise<void>): Promise<void> {
  failure.textContent = ''
  isBusy = true
  try {
    await work()
  } catch (error) {
    showFailure(error)
  } finally {
    isBusy = false
  }
  show()
}

function showFailure(error: unknown): void {
  failure.textContent = error instanceof Error ? error.message : 'the connection was lost'
}

function show(): void {
  const { isWorking } = client
  const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 40
  // A screen reader reads the answer when it is whole, not each word of it.
  messages.ariaBusy = String(isWorking)
  showMessages(messages, client.messages, decide)
  showQueued()
  const waits = messages.querySelectorAll('.card').length
  empty.hidden = isWorking || client.messages.length > 0
  sendButton.textContent = isWorking ? 'Steer' : 'Send'
  sendButton.disabled = waits > 0
  if (!isWorking) stopButton.disabled = false
  stopButton.hidden = !isWorking && waits === 0
  setStatus(statusText(waits))
  if (isAtEnd) scrollTo(0, document.body.scrollHeight)
}

/** What the agent has not read yet. */
function showQueued(): void {
  const texts = [...client.queued]
  if (texts.join('\n') === [...queued.children].map((item) => item.textContent).join('\n')) return
  queued.replaceChildren(...texts.map((textContent) => make('li', { textContent })))
}

function statusText(waits: number): string {
  if (waits > 0)
    return `The agent waits for you: ${waits === 1 ? '1 question' : `${waits} questions`}.`
  if (client.isWorking)
    return 'The agent is working. What you send reaches it before its next step.'
  return client.sessionStatus === 'aborted' ? 'Stopped.' : ''
}

/** The same text again would be read again. */
function setStatus(text: string): void {
  if (status.textContent !== text) status.textContent = text
}
