import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Arguments of Node that run `helix` from its source. */
export const SOURCE = [
  '--conditions=@helix-agents/source',
  join(import.meta.dirname, '../src/bin.ts'),
]

/** How a process of `helix` ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** Starts `helix` from its source. */
export function startHelix(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...SOURCE, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  return child
}

export async function runHelix(...args: readonly string[]): Promise<Ended> {
  const child = startHelix(args)
  const [out, err, end] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
  return { ...end, out, err }
}

export async function ended(child: ChildProcess): Promise<Pick<Ended, 'code' | 'signal'>> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
}

/** A line of the shell in which `helix` is the program from its source. */
export async function runShell(line: string, cwd: string): Promise<Ended> {
  const quoted = [process.execPath, ...SOURCE].map((part) => `'${part}'`).join(' ')
  const script = `set -o pipefail; helix() { ${quoted} "$@"; }; ${line}`
  const child = spawn('bash', ['-c', script], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, end] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
  return { ...end, out, err }
}
