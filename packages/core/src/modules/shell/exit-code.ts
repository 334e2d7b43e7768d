import type { RunResult, ShellCommand } from './contract.ts'

/** Exit codes above this one are a signal's number more. */
const SIGNAL_BASE = 128

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'hung up (SIGHUP)',
  2: 'interrupted (SIGINT)',
  3: 'quit (SIGQUIT)',
  4: 'illegal instruction (SIGILL)',
  6: 'aborted itself (SIGABRT)',
  7: 'bus error (SIGBUS)',
  8: 'arithmetic error (SIGFPE)',
  9: 'killed (SIGKILL), perhaps for lack of memory',
  11: 'crashed with a segmentation fault (SIGSEGV)',
  13: 'its reader went away (SIGPIPE)',
  14: 'its alarm went off (SIGALRM)',
  15: 'terminated (SIGTERM)',
}

const GENERAL: Readonly<Record<number, string>> = {
  124: 'the time was up',
  126: 'found, but it cannot be executed',
  127: 'command not found',
}

/** Programs whose exit code 1 is an answer, not a failure. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ['grep', 'no line matched'],
  ['egrep', 'no line matched'],
  ['fgrep', 'no line matched'],
  ['zgrep', 'no line matched'],
  ['rg', 'no line matched'],
  ['ag', 'no line matched'],
  ['diff', 'the files differ'],
  ['cmp', 'the files differ'],
  ['test', 'the condition is false'],
  ['[', 'the condition is false'],
  ['pgrep', 'no process matched'],
])

/** What an exit code says, where it says more than success or failure. */
export function exitCodeMeaning(command: ShellCommand, result: RunResult): string | undefined {
  const { exitCode } = result
  if (result.timedOut) return 'the time was up; the output is what came until then'
  if (exitCode === 1) return ANSWERS.get(lastProgramOf(command))
  return GENERAL[exitCode] ?? SIGNALS[exitCode - SIGNAL_BASE]
}

/** The program that gave the exit code; empty when the line is more than one pipeline. */
function lastProgramOf(command: ShellCommand): string {
  if (typeof command !== 'string') return baseNameOf(command[0] ?? '')
  if (/[;&\n]|\|\|/.test(command.trim())) return ''
  const words = command
    .slice(command.lastIndexOf('|') + 1)
    .trim()
    .split(/\s+/)
  return baseNameOf(words.find((word) => !/^\w+=/.test(word)) ?? '')
}

function baseNameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
