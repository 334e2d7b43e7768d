import type { LLMAdapter, Message, StepInput, StepResult } from '@helix-agents/core'

const HINT = 'I am a script; set MODEL (see .env.example) to talk to a model.'

/**
 * A model without a key: it counts the words of what the user says, writes that down, and lists its
 * notes. It reads the conversation only, so that it also continues one that an eviction interrupted.
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
  const last = messages.at(-1)
  if (last?.role !== 'tool') return call(messages, 'count_words', { text: said })
  const result = typeof last.content === 'string' ? last.content : ''
  if (last.toolName === 'count_words') {
    const content = `${said}\n(${result} words)\n`
    const path = `/notes/${texts.length}.md`
    return call(messages, 'workspace__notes__write_file', { path, content })
  }
  if (last.toolName === 'workspace__notes__write_file') {
    return call(messages, 'workspace__notes__ls', { path: '/notes' })
  }
  const content = `Written down. Notes so far: ${result.split('\n').length - 1}. ${HINT}`
  return { type: 'text', content, shouldStop: true }
}

function call(messages: readonly Message[], name: string, input: object): StepResult {
  const toolCalls = [{ id: `call-${messages.length}`, name, arguments: input }]
  return { type: 'tool_calls', toolCalls }
}

/** Word by word, as a model does. */
function speak(step: StepResult, { callbacks }: StepInput): void {
  if (step.type !== 'text') return
  for (const word of step.content.split(/(?<= )/)) callbacks.onTextDelta?.(word)
}
