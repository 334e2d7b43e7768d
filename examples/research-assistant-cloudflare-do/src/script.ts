import type { Message, StepResult, ToolCall } from '@helix-agents/core'
import { type Lead, leads } from './leads.ts'

interface Call {
  readonly tool: string
  readonly input: object
}

/** One answer of the model. `seen` is what the tools of the step before said. */
type Step = (seen: string, messages: readonly Message[]) => Omit<Answer, 'messages'>

interface Answer {
  readonly says: string
  /** None: the last words. */
  readonly calls: readonly Call[]
}

/** The whole research. Which step is next follows from the conversation alone. */
const steps: readonly Step[] = [
  begin,
  ...leads.flatMap((lead, i) => [readStep(lead), noteStep(lead, leads[i + 1])]),
  readNotes,
  writeReport,
  end,
]

/**
 * The next answer in a conversation. It knows nothing but the conversation, so that it goes on in
 * any instance of the object. A step that does not find what the one before must have brought
 * throws: a story that went wrong must not look well.
 */
export function nextAnswer(messages: readonly Message[]): StepResult {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const index = turn.filter(({ role }) => role === 'assistant').length
  const step = steps[index]
  if (step === undefined) throw new Error('the script has no further step')
  const { says, calls } = step(resultsIn(turn), turn)
  if (calls.length === 0) return { type: 'text', content: says, shouldStop: true }
  const toolCalls: ToolCall[] = calls.map(({ tool, input }, i) => ({
    id: `call-${messages.length}-${i}`,
    name: tool,
    arguments: input,
  }))
  return { type: 'tool_calls', content: says, toolCalls }
}

function begin(_seen: string, messages: readonly Message[]): Answer {
  const [question] = messages
  const content = `# Question\n\n${textOf(question)}\n`
  const [first] = leads
  return { says: first?.says ?? '', calls: [write('/question.md', content), ...searchFor(first)] }
}

function readStep({ reads }: Lead): Step {
  return (seen) => {
    for (const id of reads) expectIn(seen, `${id}:`)
    const calls = reads.map((id) => ({ tool: 'read_document', input: { id } }))
    return { says: `I read ${reads.join(' and ')}.`, calls }
  }
}

function noteStep({ note }: Lead, next: Lead | undefined): Step {
  return (seen) => {
    for (const { text } of note.quotes) expectIn(seen.replaceAll(/\s+/g, ' '), text)
    const quotes = note.quotes.map(({ from, text }) => `> ${text} (${from})`)
    const content = `${quotes.join('\n')}\n\nFinding: ${note.finding}\n`
    const look = [{ tool: 'workspace__notes__ls', input: { path: '/findings' } }]
    const more = next === undefined ? look : searchFor(next)
    const says = next === undefined ? note.says : `${note.says} ${next.says}`
    return { says, calls: [write(note.path, content), ...more] }
  }
}

function readNotes(seen: string): Answer {
  const paths = leads.map(({ note }) => note.path)
  for (const path of paths) expectIn(seen, path.replace('/findings/', ''))
  const calls = paths.map((path) => ({ tool: 'workspace__notes__read_file', input: { path } }))
  return { says: `All ${paths.length} notes are there. I read them.`, calls }
}

const countQuotes = "cat findings/*.md | grep -c '^> '"

/** From the notes as they were read, and nothing else. */
function writeReport(seen: string): Answer {
  const findings = [...seen.matchAll(/Finding: (?<text>.+)/g)].map((found) => found.groups?.text)
  if (findings.length !== leads.length) throw new Error(`${findings.length} findings in the notes`)
  const lines = findings.map((text, i) => `${i + 1}. ${text}`)
  const content = `# Why row C yields less, and what to do\n\n${lines.join('\n')}\n`
  const count = { tool: 'workspace__notes__run', input: { command: countQuotes } }
  return {
    says: 'Now the report, and a count of what it rests on.',
    calls: [write('/report.md', content), count],
  }
}

function end(seen: string): Answer {
  expectIn(seen, '/report.md')
  expectIn(seen, `${leads.flatMap(({ note }) => note.quotes).length}\n`)
  const says =
    'The breakwater moved a sandbank towards row C, which slows the current. Build the sill, recalibrate the meter, and do not clean the blades for it. The report is in /report.md.'
  return { says, calls: [] }
}

function write(path: string, content: string): Call {
  return { tool: 'workspace__notes__write_file', input: { path, content } }
}

function searchFor(lead: Lead | undefined): readonly Call[] {
  return lead === undefined ? [] : [{ tool: 'search_documents', input: { query: lead.query } }]
}

/** What the tools said since the model spoke last, as the model reads it. */
function resultsIn(messages: readonly Message[]): string {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  return since
    .filter(({ role }) => role === 'tool')
    .map(textOf)
    .join('\n')
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? ''
  return typeof content === 'string' ? content : JSON.stringify(content)
}

function expectIn(seen: string, text: string): void {
  if (!seen.includes(text)) throw new Error(`expected "${text}", but the tools said:\n${seen}`)
}
