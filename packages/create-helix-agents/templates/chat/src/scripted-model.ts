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
  const said = String(texts.at(-1)?.content ?? '')
  const { number, newText } =
    /^change note (?<number>\d+) to (?<newText>.+)/i.exec(said)?.groups ?? {}
  const last = messages.at(-1)
  const result = last?.role === 'tool' ? String(last.content) : undefined
  if (newText !== undefined) {
    const path = `/notes/${number}.md`
    if (result === undefined) return call(messages, 'read_file', { path })
    // Line 1 of the note, as `read_file` shows it.
    const oldText = /^ *1[\t:|→] ?(?<line>.*)$/m.exec(result)?.groups?.line
    const isRead = last?.role === 'tool' && last.toolName.endsWith('read_file')
    if (isRead && oldText !== undefined) {
      return call(messages, 'edit_file', { path, oldText, newText })
    }
    const isChanged = last?.role === 'tool' && last.isError !== true
    return say(isChanged ? 'Changed.' : `Not changed: ${result}`)
  }
  if (result === undefined) {
    return call(messages, 'write_file', { path: `/notes/${texts.length}.md`, content: `${said}\n` })
  }
  if (last?.role === 'tool' && last.toolName.endsWith('write_file')) {
    return call(messages, 'ls', { path: '/notes' })
  }
  return say(`Written down. Notes so far: ${result.split('\n').length - 1}. ${HINT}`)
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
