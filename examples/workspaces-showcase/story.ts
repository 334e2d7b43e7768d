import type { Message, MockStep, StepInput, StepResult, ToolCall } from '@helix-agents/core'
import { formatEdits, monthsCode, monthsTest, parserEdits, soakProgram } from './months.ts'

/** The test prints this when all is well. */
export const testPassed = 'months: every check passed'

/** The story has two processes; the first is killed. */
export type Part = 'first' | 'second'

export interface Call {
  readonly tool: string
  readonly input: object
}

/**
 * What the model does in the first process, which is killed in the middle of the last step. Each
 * step looks at what the step before brought and fails when that is not what the story says: a
 * demo that went wrong must not look well.
 */
export function firstPart(hasProcesses: boolean, isDurable = true): MockStep[] {
  const begin = [fetchPackage, lookAround]
  return hasProcesses
    ? [...begin, readSource, teachParser, writeTest, runTest, repair, runAgain, soak]
    : [
        ...begin,
        readAndSnapshot,
        teachAfterSnapshot,
        runCode,
        repairByCode,
        runCodeAgain,
        ...(isDurable ? [think] : [reviewDiff, thinkOnDiff]),
      ]
}

/** What the model does when the second process has resumed the session. */
export function secondPart(hasProcesses: boolean, isDurable: boolean): MockStep[] {
  if (!isDurable) return [lookForFiles, reportLoss]
  return hasProcesses
    ? [findOut, testOnceMore, showDiff, publish, finishPublished]
    : [lookForFiles, codeOnceMore, reviewDiff, finishByCode]
}

/** What the model does in each part, from the begin of the session on. */
export type Story = Readonly<Record<Part, readonly MockStep[]>>

/** Without a shell, in files that outlive what is killed. The answer that is cut off is not kept. */
export function filestoreStory(): Story {
  const first = firstPart(false)
  return { first, second: [...first.slice(0, -1), ...secondPart(false, true)] }
}

/**
 * The step of an agent that lives in a Worker: its object may be moved at any time, so that which
 * step is next follows from the conversation.
 */
export function hostedStep(script: readonly MockStep[], messages: readonly Message[]): MockStep {
  const step = script[messages.filter(({ role }) => role === 'assistant').length]
  if (step === undefined) throw new Error('the story has no further step')
  return step
}

/** Runs of the test in the command that the first process does not survive. */
export const soakRounds = 500
/** Where there is no such command: what the model says before it is cut off. */
export const lastWords = 'Green, without a process and without a container. Let me think about'

const fetchPackage: MockStep = () =>
  says('I want to teach the package `ms` about months. First I get a copy to work on.', {
    tool: 'checkout_package',
    input: { name: 'ms' },
  })

const lookAround: MockStep = (input) => {
  expectIn(results(input), '/ms/index.js')
  return says(
    'I look where weeks are handled: months belong next to them.',
    { tool: 'workspace__box__ls', input: { path: '/ms' } },
    { tool: 'workspace__box__grep', input: { pattern: 'weeks?', opts: { path: '/ms' } } },
  )
}

const readCall: Call = { tool: 'workspace__box__read_file', input: { path: '/ms/index.js' } }

const readSource: MockStep = (input) => {
  expectIn(results(input), "case 'weeks':")
  return says('The units are a pattern and a switch. I read the file before I touch it.', readCall)
}

const readAndSnapshot: MockStep = (input) => {
  expectIn(results(input), "case 'weeks':")
  return says(
    'The units are a pattern and a switch. I read the file, and keep it all as it is.',
    readCall,
    {
      tool: 'workspace__box__snapshot',
      input: {},
    },
  )
}

function teach(input: StepInput): StepResult {
  expectIn(results(input), 'function fmtLong(ms)')
  return says(
    'Three edits teach the parser: a constant, the pattern, the unit.',
    ...edits(parserEdits),
  )
}

const teachParser: MockStep = teach

const teachAfterSnapshot: MockStep = (input) => {
  expectIn(results(input), '[snapshot taken]')
  return teach(input)
}

const writeTest: MockStep = () =>
  says('Before I believe it, I write a test. It also compares with the original.', {
    tool: 'workspace__box__write_file',
    input: { path: '/ms/months.test.cjs', content: monthsTest },
  })

const runTest: MockStep = () => says('I run it.', test())

const repair: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'AssertionError')
  const actual = /'(?<text>\d+ days)'/.exec(seen)?.groups?.text
  if (actual === undefined) throw new Error(`the test failed in another way:\n${seen}`)
  return says(
    `It parses, but two months are written as "${actual}": I forgot the way back. The short form has the same hole.`,
    ...edits(formatEdits),
  )
}

const runCode: MockStep = () =>
  says('There is no Node here, but an interpreter: it loads the file and checks it.', code())

const repairByCode: MockStep = (input) => {
  const actual = /'(?<text>\d+ days)' is not '2 months'/.exec(results(input))?.groups?.text
  if (actual === undefined) throw new Error(`the code failed in another way:\n${results(input)}`)
  return says(
    `It parses, but two months are written as "${actual}": I forgot the way back. The short form has the same hole.`,
    ...edits(formatEdits),
  )
}

/** Text tools need no processes. */
const reviewDiff: MockStep = (input) => {
  expectIn(results(input), testPassed)
  return says('What did I change in all? The shell here has no Node, but it has diff.', {
    tool: 'workspace__box__run',
    input: { command: 'diff -u original/index.js ms/index.js | tail -n +3 | grep "^[+-]"' },
  })
}

const runCodeAgain: MockStep = () => says('Once more.', code())

const runAgain: MockStep = () => says('Once more.', test())

const soak: MockStep = (input) => {
  expectIn(results(input), testPassed)
  return runOften()
}

/** The command that the first process does not survive. */
export function runOften(): StepResult {
  return says(
    `Green. To be sure that it stays green, I run it ${soakRounds} times.`,
    {
      tool: 'workspace__box__write_file',
      input: { path: '/ms/soak.cjs', content: soakProgram(soakRounds) },
    },
    { tool: 'workspace__box__run', input: { command: 'node soak.cjs', opts: { cwd: '/ms' } } },
  )
}

/** Without Node nothing takes long: the process dies while the model thinks. */
const think: MockStep = async (input) => {
  expectIn(results(input), testPassed)
  return speakLong(input)
}

const thinkOnDiff: MockStep = async (input) => {
  expectIn(results(input), '+var mo = y / 12;')
  return speakLong(input)
}

async function speakLong({ callbacks }: StepInput): Promise<StepResult> {
  callbacks.onTextDelta?.(lastWords)
  await new Promise((resolve) => setTimeout(resolve, 60_000))
  return says('This is never said.')
}

const lookForFiles: MockStep = () =>
  says('A new process. Are my files still there?', {
    tool: 'workspace__box__ls',
    input: { path: '/' },
  })

const codeOnceMore: MockStep = (input) => {
  expectIn(results(input), 'original')
  return says('They are. I check them once more, here.', code())
}

const findOut: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'outcome-unknown')
  if (seen.includes(`round ${soakRounds}`)) throw new Error('the command survived its process')
  return says('The process was stopped in the middle of that. What is left of my work?', {
    tool: 'workspace__box__ls',
    input: { path: '/' },
  })
}

const testOnceMore: MockStep = (input) => {
  expectIn(results(input), 'original')
  return says('All of it. I run the test once more, here.', test())
}

export const showDiff: MockStep = (input) => {
  expectIn(results(input), testPassed)
  return says('Still green. This is the whole change:', {
    tool: 'workspace__box__run',
    input: { command: 'diff -u original/index.js ms/index.js | tail -n +3' },
  })
}

/** Nothing leaves this machine: a dry run, for a registry that is none. */
const publish: MockStep = (input) => {
  expectIn(results(input), '+var mo = y / 12;')
  const flags =
    '--dry-run --ignore-scripts --loglevel error --fetch-retries 0 --registry http://127.0.0.1:1'
  return says('The change is ready. I would publish it now.', {
    tool: 'workspace__box__run',
    input: { command: `npm publish ${flags}`, opts: { cwd: '/ms' } },
  })
}

const finishPublished: MockStep = (input) => {
  const seen = results(input)
  const isDenied = seen.includes('The user denied this call')
  if (!isDenied) expectIn(seen, '+ ms@')
  const end = isDenied ? 'not published, as you wish.' : 'published, as far as a dry run goes.'
  return { type: 'text', content: `\`ms\` understands months, both ways; ${end}`, shouldStop: true }
}

export const finish: MockStep = (input) => {
  expectIn(results(input), '+var mo = y / 12;')
  return { type: 'text', content: '`ms` understands months, both ways.', shouldStop: true }
}

const finishByCode: MockStep = (input) => {
  expectIn(results(input), '+var mo = y / 12;')
  const content = '`ms` understands months, both ways: checked without a container.'
  return { type: 'text', content, shouldStop: true }
}

const reportLoss: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'started afresh')
  if (seen.includes('original')) throw new Error('files in memory outlived their process')
  return {
    type: 'text',
    content: 'My files were in memory and died with the first process. I was told, and say so.',
    shouldStop: true,
  }
}

export function test(): Call {
  return {
    tool: 'workspace__box__run',
    input: { command: 'node --stack-trace-limit=0 months.test.cjs', opts: { cwd: '/ms' } },
  }
}

function code(): Call {
  return {
    tool: 'workspace__box__run_code',
    input: { language: 'javascript', code: monthsCode },
  }
}

function edits(list: readonly object[]): Call[] {
  return list.map((input) => ({ tool: 'workspace__box__edit_file', input }))
}

export function says(content: string, ...calls: readonly Call[]): StepResult {
  const toolCalls: ToolCall[] = calls.map(({ tool, input }) => ({
    id: crypto.randomUUID(),
    name: tool,
    arguments: input,
  }))
  return { type: 'tool_calls', content, toolCalls }
}

/** What the tools of the step before said, as the model reads it. */
export function results({ messages }: StepInput): string {
  const start = messages.findLastIndex((message) => message.role === 'assistant')
  return messages
    .slice(start + 1)
    .flatMap((message) => (message.role === 'tool' ? [message.content] : []))
    .map((content) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n')
}

export function expectIn(seen: string, text: string): void {
  if (!seen.includes(text))
    throw new Error(`the story expects "${text}", but the tools said:\n${seen}`)
}
