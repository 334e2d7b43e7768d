import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type SandboxTestbed, startSandboxTestbed } from '@helix-agents/sandbox-testbed'

const TOKEN = 'local-token-of-the-fleet'
/** Of the runbook; here it is another one. */
const HOST = 'https://fleet.example.com'

export interface Task {
  readonly id: string
  readonly agent: string
  readonly command: string
  readonly isForgotten?: boolean
}

/** The Worker of this example in workerd on this machine, with real sandboxes. */
export class LocalDeployment implements AsyncDisposable {
  readonly testbed: SandboxTestbed

  private constructor(testbed: SandboxTestbed) {
    this.testbed = testbed
  }

  static async start(): Promise<LocalDeployment> {
    const log = process.env.FLEET_LOG
    const testbed = await startSandboxTestbed({
      worker: {
        entry: join(import.meta.dirname, 'src/local-worker.ts'),
        durableObjects: {
          SANDBOX: { className: 'TaskSandbox', container: true },
          FLEET: 'FleetDirectory',
        },
        bindings: { ENVIRONMENT: 'local', FLEET_TOKEN: TOKEN },
      },
      ...(log !== undefined && { onLog: (line) => void process.stderr.write(`${line}\n`) }),
    })
    return new LocalDeployment(testbed)
  }

  /** Has an agent's command run in a sandbox of its own; gives back what it wrote. */
  async run({ agent, command, id, isForgotten = false }: Task): Promise<string> {
    const query = `agent=${agent}${isForgotten ? '&forgotten' : ''}`
    const headers = { authorization: `Bearer ${TOKEN}` }
    const init = { method: 'POST', headers, body: command }
    const response = await this.testbed.fetch(`/tasks/${id}?${query}`, init)
    const output = await response.text()
    if (!response.ok) throw new Error(`task ${id}: ${response.status} ${output}`)
    return output
  }

  /** Puts the clock of the Worker forward. */
  async later(minutes: number): Promise<void> {
    await this.testbed.fetch(`/local/later?minutes=${minutes}`)
  }

  /** Has the cron trigger ring, and waits for what it does. */
  async ringCron(): Promise<string> {
    const worker = await this.testbed.miniflare.getWorker()
    const { outcome } = await worker.scheduled({ cron: '*/5 * * * *' })
    return outcome
  }

  /** Runs a command of the runbook as it stands there, against this deployment. */
  async shell(command: string): Promise<unknown> {
    const line = command.replaceAll(HOST, this.testbed.url.origin)
    const child = spawn('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    if (code !== 0) throw new Error(`${command}\nended with ${code}: ${err}`)
    return JSON.parse(out)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.testbed.stop()
  }
}
