import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, ToolInputError } from '@helix-agents/core'
import type { BackgroundProcess } from '@helix-agents/core/provider'
import { BackgroundCommand } from './background-process.ts'

const MAX_RUNNING = 64
const MAX_LISTED = 128

/** The background processes of one workspace. */
export class BackgroundProcesses {
  readonly #directory: string
  readonly #limits: { readonly maxBytes: number; readonly clock: Clock }
  readonly #commands = new Map<string, BackgroundCommand>()
  #count = 0

  constructor(scratch: string, limits: { readonly maxBytes: number; readonly clock: Clock }) {
    this.#directory = join(scratch, 'background')
    this.#limits = limits
  }

  /** @throws {ToolInputError} `invalid-input` when too many run. */
  create(title: string): BackgroundCommand {
    this.#makeRoom()
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    this.#count += 1
    const id = `p${this.#count}`
    const command = new BackgroundCommand({
      id,
      title,
      directory: this.#directory,
      ...this.#limits,
    })
    this.#commands.set(id, command)
    return command
  }

  remove(command: BackgroundCommand): void {
    this.#commands.delete(command.describe().id)
    command.forget()
  }

  list(): readonly BackgroundProcess[] {
    return [...this.#commands.values()].map((command) => command.describe())
  }

  /** @throws {ToolInputError} `invalid-input` for an unknown id. */
  get(id: string): BackgroundCommand {
    const command = this.#commands.get(id)
    if (command !== undefined) return command
    throw new ToolInputError('invalid-input', `no background process has the id ${id.slice(0, 64)}`)
  }

  async killAll(graceMs: number): Promise<void> {
    await Promise.all([...this.#commands.values()].map((command) => command.kill(graceMs)))
  }

  /** Forgets the oldest that ended. */
  #makeRoom(): void {
    const all = [...this.#commands.values()]
    const ended = all.filter((command) => command.describe().state === 'exited')
    if (all.length - ended.length >= MAX_RUNNING) {
      throw new ToolInputError('invalid-input', `${MAX_RUNNING} background processes run already`, {
        hint: 'Kill one of them first.',
      })
    }
    const excess = Math.max(0, all.length - MAX_LISTED + 1)
    for (const command of ended.slice(0, excess)) this.remove(command)
  }
}
