import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

const SCRIPT = new URL('./child-main.ts', import.meta.url).pathname
/** Permissions do not hold for root: nobody does. */
const NOBODY = 65_534

export interface Child {
  readonly process: ChildProcess
  /** The next line it prints, parsed. */
  next(): Promise<unknown>
  send(line: string): void
  readonly exited: Promise<unknown>
}

export interface ChildOptions {
  /** Runs without the rights of root. */
  readonly unprivileged?: boolean
  /** A command that starts it with limits. */
  readonly through?: readonly string[]
}

/** Runs a task of `child-main.ts` in a process of its own; it is killed after the test. */
export function spawnChild(task: readonly string[], options: ChildOptions = {}): Child {
  const command = [
    ...(options.through ?? []),
    process.execPath,
    '--conditions=@helix-agents/source',
    SCRIPT,
    ...task,
  ]
  const identity =
    options.unprivileged && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...identity,
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    next: async () => {
      const line = await lines.next()
      if (line.done) throw new Error('the child ended without an answer')
      return JSON.parse(line.value)
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    exited,
  }
}
