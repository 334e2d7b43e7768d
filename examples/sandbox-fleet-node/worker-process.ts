import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { FleetPolicyInput } from '@helix-agents/sandbox-fleet'
import type { FleetPlace } from './open-fleet.ts'

/** What one agent is to do. */
export interface Order {
  /** Of the agent and its session. */
  readonly name: string
  readonly place: FleetPlace
  /** Commands of its shell, one after the other. */
  readonly commands: readonly string[]
  readonly policy?: FleetPolicyInput
  /** Does not tell the fleet. */
  readonly isSilent?: boolean
}

/** A process with agents. */
export class WorkerProcess {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), { stdio: 'inherit' })
  }

  start(order: Order): void {
    this.#child.send(order)
  }

  /** As a crash: it cannot clean up. */
  async crash(): Promise<void> {
    await this.#end(() => this.#child.kill('SIGKILL'))
  }

  /** In order: its agents close their workspaces and tell the fleet. */
  async finish(): Promise<void> {
    await this.#end(() => this.#child.send('finish'))
  }

  async #end(tell: () => void): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    if (this.#child.connected) tell()
    await exit
  }
}
