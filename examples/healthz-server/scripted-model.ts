import {
  type LLMAdapter,
  type Message,
  MockLLMAdapter,
  type StepResult,
  type ToolResultMessage,
} from '@helix-agents/core'

/**
 * A model without a key. Each answer follows from the conversation alone, so that it serves any
 * number of sessions and continues in another process. Put your own `LLMAdapter` in its place.
 */
export const scriptedModel: LLMAdapter = {
  generateStep: (input) => new MockLLMAdapter([nextStep(input.messages)]).generateStep(input),
}

const MAX_ROWS = 1000

function nextStep(messages: readonly Message[]): StepResult {
  const last = messages.at(-1)
  const [purpose = ''] = last?.role === 'tool' ? last.toolCallId.split('-') : []
  const answer = last?.role === 'tool' ? answers[purpose] : undefined
  return answer === undefined ? plan(messages) : answer(messages, last as ToolResultMessage)
}

type Answer = (messages: readonly Message[], result: ToolResultMessage) => StepResult

/** By what the last call was for: what comes next. */
const answers: Readonly<Record<string, Answer>> = {
  plan: (messages) => count(messages, 'I count.'),
  // However the command ended: what is in the file is what counts.
  count: (messages) => {
    const input = { command: 'wc -l < rows.txt && cat plan.md' }
    return call(messages, { purpose: 'check', tool: 'run', input, says: 'I check.' })
  },
  check: (messages, { content, isError }) => {
    const counted = typeof content === 'string' ? Number.parseInt(content, 10) : Number.NaN
    if (counted < rows(messages)) return count(messages, 'I was stopped. I go on.')
    const text = isError === true ? 'I could not check.' : `I have counted to ${counted}.`
    return { type: 'text', content: text, shouldStop: true }
  },
}

function plan(messages: readonly Message[]): StepResult {
  const content = `Count to ${rows(messages)}.\n`
  const file = { path: '/plan.md', content }
  return call(messages, { purpose: 'plan', tool: 'write_file', input: file, says: 'I note it.' })
}

/** Slow on purpose, and safe to run again: it continues after the rows that are there. */
function count(messages: readonly Message[], says: string): StepResult {
  const command = [
    'touch rows.txt; n=$(wc -l < rows.txt)',
    `while [ "$n" -lt ${rows(messages)} ]; do`,
    '  n=$((n + 1)); echo "row $n" >> rows.txt; echo "row $n"; sleep 0.1',
    'done',
  ].join('\n')
  return call(messages, { purpose: 'count', tool: 'run', input: { command }, says })
}

interface Call {
  /** Begins the id of the call; {@link answers} go by it. */
  readonly purpose: string
  readonly tool: string
  readonly input: object
  readonly says: string
}

function call(messages: readonly Message[], { purpose, tool, input, says }: Call): StepResult {
  const id = `${purpose}-${messages.length}`
  const toolCalls = [{ id, name: `workspace__box__${tool}`, arguments: input }]
  return { type: 'tool_calls', content: says, toolCalls }
}

/** The first number that the user named last. */
function rows(messages: readonly Message[]): number {
  const texts = messages.flatMap(({ role, content }) =>
    role === 'user' && typeof content === 'string' ? [content] : [],
  )
  const number = texts.toReversed().flatMap((text) => /\d+/.exec(text) ?? [])[0]
  return Math.min(Number(number ?? 20), MAX_ROWS)
}
