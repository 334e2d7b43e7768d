import { statSync } from 'node:fs'
import type { OutputFiles } from '../sessions/session-script.ts'
import type { ShellSession } from '../sessions/shell-session.ts'
import { readExitCode } from './follow-output.ts'
import { endTree, isRunning } from './process-tree.ts'

/** A process as the protocol shows it. */
export interface ProcessView {
  readonly id: string
  readonly pid: number
  readonly command: string
  readonly status: 'completed' | 'failed' | 'killed' | 'running'
  readonly startTime: string
  readonly endTime?: string
  readonly exitCode?: number
}

export interface BackgroundProcessOptions {
  readonly id: string
  readonly command: string
  readonly pid: number
  readonly files: OutputFiles
  readonly session: ShellSession
}

/** A command that runs beside a session shell. */
export class BackgroundProcess {
  readonly id: string
  readonly command: string
  readonly pid: number
  readonly files: OutputFiles
  readonly #session: ShellSession
  readonly #startTime = new Date().toISOString()
  #killedAt: string | undefined

  constructor(options: BackgroundProcessOptions) {
    this.id = options.id
    this.command = options.command
    this.pid = options.pid
    this.files = options.files
    this.#session = options.session
  }

  /** Whether it was killed, by itself or with its session, before it could end. */
  get killed(): boolean {
    if (this.#killedAt !== undefined) return true
    return this.#session.destroyed && !isRunning(this.pid) && this.exitCode === undefined
  }

  /** The exit code that it left. */
  get exitCode(): number | undefined {
    return this.#killedAt === undefined ? readExitCode(this.files) : undefined
  }

  /** Whether it ended without leaving an exit code, as `exit` makes it. */
  get vanished(): boolean {
    // In this order: what it leaves is there before it is gone.
    return !isRunning(this.pid) && this.exitCode === undefined && !this.killed
  }

  kill(): void {
    if (this.exitCode !== undefined) return
    this.#killedAt ??= new Date().toISOString()
    endTree(this.pid)
  }

  view(): ProcessView {
    const { command, exitCode, id, pid } = this
    const started = { id, pid, command, startTime: this.#startTime }
    if (this.killed) {
      return { ...started, status: 'killed', endTime: this.#killedAt ?? new Date().toISOString() }
    }
    if (exitCode === undefined) return { ...started, status: 'running' }
    const status = exitCode === 0 ? 'completed' : 'failed'
    return { ...started, status, exitCode, endTime: this.#leftAt() }
  }

  #leftAt(): string {
    return statSync(this.files.exitCode).mtime.toISOString()
  }
}
