import type { Command } from 'just-bash'
import { SHELL_PID } from '../script.ts'

const SIGNALS: ReadonlyMap<string, number> = new Map([
  ['HUP', 1],
  ['INT', 2],
  ['QUIT', 3],
  ['KILL', 9],
  ['USR1', 10],
  ['USR2', 12],
  ['TERM', 15],
])
const TERM = 15
const SIGNAL_BASE = 128
const USAGE = 'kill: usage: kill [-s sigspec | -sigspec] pid ...\n'

/** The only process of a shell without processes is the shell itself. */
export function killCommand(end: (exitCode: number) => void): Command {
  return {
    name: 'kill',
    execute: async (args) => {
      const { signal, targets } = parse(args)
      if (signal === undefined || targets.length === 0) return failed(USAGE)
      const others = targets.filter((target) => !isShell(target))
      if (signal === 0 || others.length === targets.length) return rejectOthers(others)
      end(SIGNAL_BASE + signal)
      return { stdout: '', stderr: '', exitCode: SIGNAL_BASE + signal }
    },
  }
}

function rejectOthers(others: readonly string[]): ReturnType<typeof failed> {
  const lines = others.map((target) => `bash: kill: (${target}) - No such process\n`)
  return lines.length === 0 ? { stdout: '', stderr: '', exitCode: 0 } : failed(lines.join(''))
}

function failed(stderr: string): { stdout: string; stderr: string; exitCode: number } {
  return { stdout: '', stderr, exitCode: 1 }
}

function parse(args: readonly string[]): { signal: number | undefined; targets: string[] } {
  const [first = '', ...rest] = args
  if (first === '-s' || first === '-n')
    return { signal: signalOf(rest[0] ?? ''), targets: rest.slice(1) }
  if (first === '--') return { signal: TERM, targets: rest }
  if (!/^-\w/.test(first)) return { signal: TERM, targets: [...args] }
  return { signal: signalOf(first.slice(1)), targets: rest.filter((arg) => arg !== '--') }
}

function signalOf(name: string): number | undefined {
  if (/^\d{1,2}$/.test(name)) return Number(name)
  return SIGNALS.get(name.toUpperCase().replace(/^SIG/, ''))
}

function isShell(target: string): boolean {
  return [`${SHELL_PID}`, `-${SHELL_PID}`, '0', '-1'].includes(target)
}
