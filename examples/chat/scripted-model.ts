import type { LLMAdapter, Message, StepInput, StepResult } from '@helix-agents/core'

/**
 * A model without a key: it writes down what the user says, looks at all its notes, and tells how
 * many there are; asked to change a note, it does that. Each answer follows from the conversation, so that it serves any number of chats.
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
  const last = messages.at(-1)
  const change = changeIn(messages)
  if (change !== undefined) return changeNote(change, messages)
  if (last?.role !== 'tool') return writeDown(messages)
  if (last.toolName.endsWith('write_file')) return callTool('ls', { path: '/notes' }, messages)
  const listed = typeof last.content === 'string' ? last.content.split('\n') : []
  const count = listed.length - 1
  const content = `I have written it down. You have ${count} ${count === 1 ? 'note' : 'notes'} now.`
  return { type: 'text', content, shouldStop: true }
}

interface Change {
  readonly path: string
  readonly newText: string
}

/** "Change note 1 to Buy apples." */
function changeIn(messages: readonly Message[]): Change | undefined {
  const said = messages.findLast((message) => message.role === 'user')?.content ?? ''
  const { number, newText } =
    /^change note (?<number>\d+) to (?<newText>.+)/i.exec(said)?.groups ?? {}
  return newText === undefined ? undefined : { path: `/notes/${number}.md`, newText }
}

/** It reads the note, and asks before it changes what somebody has written. */
function changeNote({ path, newText }: Change, messages: readonly Message[]): StepResult {
  const last = messages.at(-1)
  if (last?.role !== 'tool') {
    return { ...callTool('read_file', { path }, messages), content: 'I read the note.' }
  }
  const seen = typeof last.content === 'string' ? last.content : ''
  if (last.toolName.endsWith('read_file') && last.isError !== true) {
    const oldText = /^ *1[\t:|→] ?(?<line>.*)$/m.exec(seen)?.groups?.line ?? seen.trim()
    const change = { path, oldText, newText }
    return { ...callTool('edit_file', change, messages), content: 'I would change it so:' }
  }
  const content =
    last.isError === true ? `I have not changed it: ${seen}` : 'I have changed the note.'
  return { type: 'text', content, shouldStop: true }
}

function writeDown(messages: readonly Message[]): StepResult {
  const said = messages.filter((message) => message.role === 'user')
  const path = `/notes/${said.length}.md`
  const content = `${said.at(-1)?.content ?? ''}\n`
  return { ...callTool('write_file', { path, content }, messages), content: 'I note that.' }
}

function callTool(
  tool: string,
  input: object,
  messages: readonly Message[],
): Extract<StepResult, { type: 'tool_calls' }> {
  const call = {
    id: `call-${messages.length}`,
    name: `workspace__notes__${tool}`,
    arguments: input,
  }
  return { type: 'tool_calls', toolCalls: [call] }
}

/** Word by word, as a model does. */
function speak(step: StepResult, { callbacks }: StepInput): void {
  if (step.type !== 'text' && step.type !== 'tool_calls') return
  for (const word of (step.content ?? '').split(/(?<= )/)) callbacks.onTextDelta?.(word)
}
