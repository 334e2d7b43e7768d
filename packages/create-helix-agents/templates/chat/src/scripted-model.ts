import type { LLMAdapter, Message, StepInput, StepResult } from '@helix-agents/sdk'

const HINT = 'I am a script; set MODEL (see .env.example) to talk to a model.'

/**
 * A model without a key: it writes down what the user says, and tells how many notes there are. It
 * reads the conversation only, so that it serves any number of chats.
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
  if (last?.role !== 'tool') {
    const texts = messages.filter((message) => message.role === 'user')
    const content = `${texts.at(-1)?.content ?? ''}\n`
    return call(messages, 'write_file', { path: `/notes/${texts.length}.md`, content })
  }
  if (last.toolName.endsWith('write_file')) return call(messages, 'ls', { path: '/notes' })
  const listed = typeof last.content === 'string' ? last.content.split('\n').length - 1 : 0
  const content = `Written down. Notes so far: ${listed}. ${HINT}`
  return { type: 'text', content, shouldStop: true }
}

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
