import { getSandbox } from '@cloudflare/sandbox'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetDriver, SandboxResources, SandboxTarget } from '@helix-agents/sandbox-fleet'
import { CloudflareSandboxFleetDriver } from '@helix-agents/sandbox-fleet/cloudflare'
import type { Env } from './env.ts'
import type { TaskNotes } from './task-sandbox.ts'

/** The driver of Cloudflare, with the logs and the use that the sandboxes of this Worker note. */
export class TaskSandboxDriver extends CloudflareSandboxFleetDriver implements FleetDriver {
  readonly #namespace: Env['SANDBOX']

  constructor({ SANDBOX: namespace }: Env) {
    super({ getSandbox: (id) => getSandbox(namespace, id) })
    this.#namespace = namespace
  }

  async logs(target: SandboxTarget): Promise<string> {
    return (await this.#notes(target)).output
  }

  /** Of the end of its last task. */
  async resources(target: SandboxTarget): Promise<SandboxResources> {
    const { cpuPercent, memoryMb } = await this.#notes(target)
    return { cpuPercent, memoryMb }
  }

  async #notes({ id }: SandboxTarget): Promise<TaskNotes> {
    const notes = await this.#namespace.get(this.#namespace.idFromName(id)).notes()
    if (notes === undefined) throw new FleetError('not-supported', 'it has not run a task yet')
    return notes
  }
}
