import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { type ChildGroups, killGroup } from '../child-groups.ts'
import { type Variables, WORKSPACE, withVariables } from '../environment.ts'
import { timestamp } from '../server-sent-events.ts'
import { messageOf, ServiceError } from '../service-error.ts'
import { type ProcessEnd, RetainedLog } from './retained-log.ts'

export type Argv = readonly string[]

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Variables
  readonly timeout?: number
}

type Child = ChildProcessByStdio<null, Readable, Readable>

/** A command of an argument vector, in a group of its own, and what it has printed. */
export class ArgvProcess {
  readonly id = randomUUID()
  readonly pid: number
  readonly log = new RetainedLog()
  readonly #command: Argv
  readonly #cwd: string
  readonly #startedAt = timestamp()
  #end: (ProcessEnd & { readonly endedAt: string }) | undefined

  private constructor(child: Child, pid: number, command: Argv, options: StartOptions) {
    this.pid = pid
    this.#command = command
    this.#cwd = options.cwd ?? WORKSPACE
    child.stdout.on('data', (data: Buffer) => this.log.add('stdout', data))
    child.stderr.on('data', (data: Buffer) => this.log.add('stderr', data))
    let timedOut = false
    const stop = (): void => {
      timedOut = true
      killGroup(pid)
    }
    const timer = options.timeout === undefined ? undefined : setTimeout(stop, options.timeout)
    child.once('exit', () => clearTimeout(timer))
    child.once('close', (code, signal) => this.#finish({ ...endOf(code, signal), timedOut }))
  }

  /** @throws {ServiceError} `PROCESS_SPAWN_FAILED`. */
  static async start(
    command: Argv,
    options: StartOptions,
    groups: ChildGroups,
  ): Promise<ArgvProcess> {
    try {
      const [program = '', ...rest] = command
      const child = spawn(program, rest, {
        cwd: options.cwd ?? WORKSPACE,
        env: withVariables(options.env),
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      await once(child, 'spawn')
      const { pid } = child
      if (pid === undefined) throw new Error('no process was started')
      groups.add(pid)
      child.once('close', () => groups.forget(pid))
      return new ArgvProcess(child, pid, command, options)
    } catch (error) {
      const details = { command: command.join(' '), cwd: options.cwd }
      throw new ServiceError('PROCESS_SPAWN_FAILED', messageOf(error), details)
    }
  }

  get isRunning(): boolean {
    return this.#end === undefined
  }

  status(): object {
    const base = {
      id: this.id,
      pid: this.pid,
      command: this.#command,
      cwd: this.#cwd,
      startedAt: this.#startedAt,
    }
    if (this.#end === undefined) return { ...base, state: 'running' }
    const { endedAt, ...exit } = this.#end
    return { ...base, state: 'exited', exit, endedAt }
  }

  kill(signal: number): void {
    if (!this.isRunning) return
    try {
      process.kill(-this.pid, signal)
    } catch (error) {
      throw new ServiceError('PROCESS_ERROR', messageOf(error), { processId: this.id })
    }
  }

  #finish(end: ProcessEnd): void {
    this.#end = { ...end, endedAt: timestamp() }
    this.log.end(end)
  }
}

function endOf(
  code: number | null,
  signal: NodeJS.Signals | null,
): Pick<ProcessEnd, 'code' | 'signal'> {
  if (signal === null) return { code: code ?? 1 }
  const number = constants.signals[signal]
  return { code: 128 + number, signal: number }
}
