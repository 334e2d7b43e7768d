import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type ChildGroups, killGroup } from '../child-groups.ts'
import { homeDirectory, type Variables, WORKSPACE, withVariables } from '../environment.ts'
import { ServiceError } from '../service-error.ts'
import { onReport, type ShellReport } from './report-lines.ts'
import {
  backgroundScript,
  type CommandSettings,
  foregroundScript,
  type OutputFiles,
  type ScriptedCommand,
} from './session-script.ts'
import { Turns } from './turns.ts'

export interface ShellSessionOptions {
  readonly id: string
  readonly cwd?: string | undefined
  readonly env?: Variables | undefined
  readonly commandTimeoutMs?: number | undefined
  /** Where the files with output go; must be this session's own. */
  readonly directory: string
  readonly groups: ChildGroups
}

/** A finished command of a session; its output lies in files. */
export interface ShellOutcome {
  readonly exitCode: number
  readonly files: OutputFiles
}

/** A command that was put in the background of a session. */
export interface ShellBackground {
  readonly pid: number
  readonly files: OutputFiles
}

interface Waiting {
  resolve(report: ShellReport): void
  reject(error: ServiceError): void
}

/** One bash that lives on between commands, with all that follows from it. */
export class ShellSession {
  readonly id: string
  readonly commandTimeoutMs: number | undefined
  /** Resolves when the shell is gone. */
  readonly ended: Promise<void>
  readonly #options: ShellSessionOptions
  readonly #shell: ChildProcess
  readonly #input: Writable
  readonly #turns = new Turns()
  readonly #waiting = new Map<number, Waiting>()
  #counter = 0
  #failure: ServiceError | undefined

  constructor(options: ShellSessionOptions) {
    this.id = options.id
    this.commandTimeoutMs = options.commandTimeoutMs
    this.#options = options
    mkdirSync(options.directory, { recursive: true })
    this.#shell = spawn('/bin/bash', ['--noprofile', '--norc'], {
      cwd: startDirectory(options.cwd ?? WORKSPACE),
      env: withVariables(options.env),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    options.groups.add(this.#shell.pid)
    const { stdio } = this.#shell
    if (!(stdio[0] instanceof Writable) || !(stdio[3] instanceof Readable)) {
      throw new ServiceError('INTERNAL_ERROR', 'the session shell has no pipes')
    }
    this.#input = stdio[0]
    // A shell that is gone takes no more input; its end is reported below.
    this.#input.on('error', () => this.#input.destroy())
    onReport(stdio[3], (report) => this.#settle(report))
    this.ended = this.#watchEnd()
  }

  /** Whether the shell still takes commands. */
  get alive(): boolean {
    return this.#failure === undefined
  }

  /** Whether it was deleted, with everything it had started. */
  get destroyed(): boolean {
    return this.#failure?.code === 'SESSION_DESTROYED'
  }

  /** Where the shell is now; a directory that was removed shows as such. */
  get cwd(): string {
    try {
      return readlinkSync(`/proc/${this.#shell.pid}/cwd`)
    } catch {
      // Ended by now.
      return WORKSPACE
    }
  }

  /**
   * Runs a command in the shell, after all that came before.
   * @param settings - `timeoutMs` ends the waiting, never the command: the next one waits for it.
   * @throws {ServiceError} `SESSION_TERMINATED`, `SESSION_DESTROYED`, `COMMAND_EXECUTION_ERROR`.
   */
  async run(
    command: string,
    settings: CommandSettings & { readonly timeoutMs?: number | undefined },
  ): Promise<ShellOutcome> {
    const endTurn = await this.#turns.take()
    const finished = this.#foreground(command, settings)
    finished.then(endTurn, endTurn)
    const limitMs = settings.timeoutMs ?? this.commandTimeoutMs
    try {
      return await (limitMs === undefined ? finished : beforeTimeout(finished, limitMs))
    } finally {
      // Nothing reports any more; the next command fails with that.
      if (!existsSync(this.#options.directory)) endTurn()
    }
  }

  /** Starts a command beside the shell; the turn ends as soon as it runs. */
  async start(command: string, settings: CommandSettings): Promise<ShellBackground> {
    const endTurn = await this.#turns.take()
    try {
      const scripted = this.#prepare(command, settings, 'STREAM_START_ERROR')
      const report = await this.#send(scripted.number, backgroundScript(scripted))
      return { pid: report.value, files: scripted.files }
    } finally {
      endTurn()
    }
  }

  /** Does something between two commands of the shell. */
  async between<T>(work: (cwd: string) => T | Promise<T>): Promise<T> {
    const endTurn = await this.#turns.take()
    try {
      if (this.#failure !== undefined) throw this.#failure
      return await work(this.cwd)
    } finally {
      endTurn()
    }
  }

  /** Ends the shell and everything in its process group. */
  async destroy(): Promise<void> {
    const destroyed = new ServiceError('SESSION_DESTROYED', `session ${this.id} was destroyed`, {
      sessionId: this.id,
    })
    this.#fail(destroyed)
    if (this.#shell.pid !== undefined) killGroup(this.#shell.pid)
    await this.ended
  }

  async #foreground(command: string, settings: CommandSettings): Promise<ShellOutcome> {
    const scripted = this.#prepare(command, settings, 'COMMAND_EXECUTION_ERROR')
    const report = await this.#send(scripted.number, foregroundScript(scripted))
    return { exitCode: report.value, files: scripted.files }
  }

  /** Without the folder for output, the real server starts nothing in that session any more. */
  #prepare(
    command: string,
    settings: CommandSettings,
    refusal: 'COMMAND_EXECUTION_ERROR' | 'STREAM_START_ERROR',
  ): ScriptedCommand {
    this.#counter += 1
    const number = this.#counter
    const { directory } = this.#options
    if (!existsSync(directory)) {
      throw new ServiceError(refusal, `ENOENT: no such file or directory '${directory}'`, {
        command,
      })
    }
    const files = {
      stdout: join(directory, `${number}.out`),
      stderr: join(directory, `${number}.err`),
      exitCode: join(directory, `${number}.code`),
    }
    return { number, command, files, cwd: settings.cwd, env: settings.env }
  }

  #send(number: number, script: string): Promise<ShellReport> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const { promise, resolve, reject } = Promise.withResolvers<ShellReport>()
    this.#waiting.set(number, { resolve, reject })
    this.#input.write(script)
    return promise
  }

  #settle(report: ShellReport): void {
    this.#waiting.get(report.number)?.resolve(report)
    this.#waiting.delete(report.number)
  }

  #fail(error: ServiceError): void {
    this.#failure ??= error
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure)
    this.#waiting.clear()
  }

  #watchEnd(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const onEnd = (exitCode: number | null): void => {
      this.#options.groups.forget(this.#shell.pid)
      const details = { sessionId: this.id, exitCode }
      const text = `the shell of session ${this.id} ended (exit code: ${exitCode ?? 'unknown'})`
      this.#fail(new ServiceError('SESSION_TERMINATED', text, details))
      resolve()
    }
    this.#shell.once('exit', onEnd)
    this.#shell.once('error', () => onEnd(null))
    return promise
  }
}

function startDirectory(wanted: string): string {
  return statSync(wanted, { throwIfNoEntry: false })?.isDirectory() ? wanted : homeDirectory()
}

async function beforeTimeout<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const failure = new ServiceError('COMMAND_EXECUTION_ERROR', `command timeout after ${limitMs}ms`)
  const timer = setTimeout(() => reject(failure), limitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
