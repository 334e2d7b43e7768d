import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@helix-agents/core'
import { createFleetApp, type Fleet, type WireSandbox } from '@helix-agents/sandbox-fleet'
import { serve } from '@hono/node-server'

/** The API of a fleet on this machine, and what an operator does with it. */
export class Operator {
  readonly url: string
  readonly token: string
  readonly #close: () => Promise<void>

  private constructor(url: string, token: string, close: () => Promise<void>) {
    this.url = url
    this.token = token
    this.#close = close
  }

  /** Serves API and dashboard on 127.0.0.1. */
  static async serve(
    fleet: Fleet,
    { clock, port }: { clock: Clock; port: number },
  ): Promise<Operator> {
    const token = crypto.randomUUID()
    const app = createFleetApp({ fleet, adminToken: token, clock })
    const server = serve({
      fetch: app.fetch,
      hostname: '127.0.0.1',
      port,
      overrideGlobalObjects: false,
    })
    await once(server, 'listening')
    const { port: bound } = server.address() as AddressInfo
    const close = async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed
    }
    return new Operator(`http://127.0.0.1:${bound}`, token, close)
  }

  async list(): Promise<readonly WireSandbox[]> {
    return this.#call('GET', '/list?status=all') as Promise<readonly WireSandbox[]>
  }

  async cpuPercent(id: string): Promise<number> {
    const used = await this.#call('GET', `/${id}/resources`)
    return (used as { cpu_percent: number }).cpu_percent
  }

  async terminate(id: string): Promise<string> {
    const done = await this.#call('DELETE', `/${id}?reason=a+loop+without+end`)
    return (done as { outcome: string }).outcome
  }

  close(): Promise<void> {
    return this.#close()
  }

  async #call(method: string, path: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.token}` }
    const response = await fetch(`${this.url}/api/sandbox${path}`, { method, headers })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    return response.json()
  }
}
