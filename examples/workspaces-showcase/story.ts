import type { MockStep, StepInput, StepResult, ToolCall } from '@helix-agents/core'
import { formatEdits, monthsTest, parserEdits } from './months.ts'

/** The test prints this when all is well. */
export const testPassed = 'months: every check passed'

interface Call {
  readonly tool: string
  readonly input: object
}

/**
 * What the model does in the first process. Each step looks at what the step before brought and
 * fails when that is not what the story says: a demo that went wrong must not look well.
 */
export function firstPart(hasShell: boolean, pause: () => void): MockStep[] {
  return hasShell
    ? [
        fetchPackage,
        lookAround,
        readSource,
        teachParser,
        writeTest,
        runTest,
        repair,
        runAgain,
        showDiff(pause),
      ]
    : [fetchPackage, lookAround, readSource, teachParser, repairUnseen, showEdited(pause)]
}

/** What the model does when the second process has resumed the session. */
export function secondPart(hasShell: boolean, isDurable: boolean): MockStep[] {
  if (!isDurable) return [lookForFiles, reportLoss]
  return hasShell ? [lookForFiles, testOnceMore, finish] : [lookForFiles, finish]
}

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

const readSource: MockStep = (input) => {
  expectIn(results(input), "case 'weeks':")
  return says('The units are a pattern and a switch. I read the file before I touch it.', {
    tool: 'workspace__box__read_file',
    input: { path: '/ms/index.js' },
  })
}

const teachParser: MockStep = (input) => {
  expectIn(results(input), 'function fmtLong(ms)')
  return says(
    'Three edits teach the parser: a constant, the pattern, the unit.',
    ...edits(parserEdits),
  )
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

const repairUnseen: MockStep = () =>
  says(
    'Months must be written as well as read: the long and the short form.',
    ...edits(formatEdits),
  )

const runAgain: MockStep = () => says('Once more.', test())

function showDiff(pause: () => void): MockStep {
  return (input) => {
    expectIn(results(input), testPassed)
    pause()
    return says('Green. This is the whole change:', {
      tool: 'workspace__box__run',
      input: { command: 'diff -u original/index.js ms/index.js | tail -n +3' },
    })
  }
}

function showEdited(pause: () => void): MockStep {
  return () => {
    pause()
    return says('There is no shell here to run it with. I look at what I changed.', {
      tool: 'workspace__box__grep',
      input: { pattern: String.raw`\bmo\b|month`, opts: { path: '/ms/index.js' } },
    })
  }
}

const lookForFiles: MockStep = (input) => {
  expectIn(results(input), 'var mo = y / 12;')
  return says('A new process. Are my files still there?', {
    tool: 'workspace__box__ls',
    input: { path: '/' },
  })
}

const testOnceMore: MockStep = (input) => {
  expectIn(results(input), 'original')
  return says('They are. I run the test here as well.', test())
}

const finish: MockStep = (input) => {
  expectIn(results(input), testPassed)
  return { type: 'text', content: '`ms` understands months, both ways.', shouldStop: true }
}

const reportLoss: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'started afresh')
  if (seen.includes('original')) throw new Error('files in memory outlived their process')
  return {
    type: 'text',
    content: 'My files were in memory and went with the first process. I was told, and say so.',
    shouldStop: true,
  }
}

function test(): Call {
  return {
    tool: 'workspace__box__run',
    input: { command: 'node --stack-trace-limit=0 months.test.cjs', opts: { cwd: '/ms' } },
  }
}

function edits(list: readonly object[]): Call[] {
  return list.map((input) => ({ tool: 'workspace__box__edit_file', input }))
}

let nextCall = 1

function says(content: string, ...calls: readonly Call[]): StepResult {
  const toolCalls: ToolCall[] = calls.map(({ tool, input }) => ({
    id: `${process.pid}-${nextCall++}`,
    name: tool,
    arguments: input,
  }))
  return { type: 'tool_calls', content, toolCalls }
}

/** What the tools of the step before said, as the model reads it. */
function results({ messages }: StepInput): string {
  const start = messages.findLastIndex((message) => message.role === 'assistant')
  return messages
    .slice(start + 1)
    .flatMap((message) => (message.role === 'tool' ? [message.content] : []))
    .map((content) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n')
}

function expectIn(seen: string, text: string): void {
  if (!seen.includes(text))
    throw new Error(`the story expects "${text}", but the tools said:\n${seen}`)
}
