import type { LLMAdapter, Message, StepInput, StepResult } from '@helix-agents/sdk'

const HINT = 'I am a script; set MODEL (see .env.example) to talk to a model.'

/**
 * A model without a key: it writes down what the user says, and tells how many notes there are.
 * "Change note 1 to Buy apples" edits a note. It reads the conversation only, so that it serves any
 * number of chats.
 */
export const scriptedModel: LLMAdapter = {
  generateStep: async (input) => {
    input.abortSignal.throwIfAborted()
    const step = nextStep(input.messages)
    speak(step, input)
    return step
  },
}

function nextStep(messages: readonly Message[]): StepResult {
  const texts = messages.filter((message) => message.role === 'user')
  const said = texts.at(-1)?.content ?? ''
  const change = /^change note (?<number>\d+) to (?<newText>.+)/i.exec(said)?.groups
  if (change !== undefined) return changeNote(messages, change)
  const last = messages.at(-1)
  if (last?.role !== 'tool') {
    return call(messages, 'write_file', { path: `/notes/${texts.length}.md`, content: `${said}\n` })
  }
  if (last.toolName.endsWith('write_file')) return call(messages, 'ls', { path: '/notes' })
  const listed = typeof last.content === 'string' ? last.content.split('\n').length - 1 : 0
  return say(`Written down. Notes so far: ${listed}. ${HINT}`)
}

/** It reads the note first: an edit names the text that it replaces. */
function changeNote(
  messages: readonly Message[],
  { number, newText }: Readonly<Record<string, string | undefined>>,
): StepResult {
  const path = `/notes/${number}.md`
  const last = messages.at(-1)
  if (last?.role !== 'tool') return call(messages, 'read_file', { path })
  const result = typeof last.content === 'string' ? last.content : ''
  if (last.isError === true) return say(`Not changed: ${result}`)
  if (last.toolName.endsWith('edit_file')) return say('Changed.')
  // Line 1 of the note, as `read_file` shows it.
  const oldText = /^ *1[\t:|→] ?(?<line>.*)$/m.exec(result)?.groups?.line ?? ''
  return call(messages, 'edit_file', { path, oldText, newText })
}

const say = (content: string): StepResult => ({ type: 'text', content, shouldStop: true })

function call(messages: readonly Message[], tool: string, input: object): StepResult {
  const name = `workspace__notes__${tool}`
  const toolCalls = [{ id: `call-${messages.length}`, name, arguments: input }]
  return { type: 'tool_calls', toolCalls }
}

/** Word by word, as a model does. */
function speak(step: StepResult, { callbacks }: StepInput): void {
  if (step.type !== 'text') return
  for (const word of step.content.split(/(?<= )/)) callbacks.onTextDelta?.(word)
}
