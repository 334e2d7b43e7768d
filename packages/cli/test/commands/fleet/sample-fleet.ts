import {
  createFleetApp,
  Fleet,
  type FleetDriver,
  MemoryFleetStore,
  type SandboxListing,
} from '@helix-agents/sandbox-fleet'
import { TestHost } from '../../test-host.ts'

export const TOKEN = 'a-token-of-the-operator'
export const URL_OF_FLEET = 'http://fleet.test/ops'
const MINUTE_MS = 60_000

/** A provider in memory whose sandboxes can resist. */
export class SampleDriver implements FleetDriver {
  readonly provider = 'sample'
  readonly present = new Set<string>()
  readonly immortal = new Set<string>()
  output = 'first line\nsecond line\n'
  isListComplete = true

  async list(): Promise<SandboxListing> {
    const sandboxes = [...this.present].map((id) => ({ id, environment: 'test', createdAt: 0 }))
    return { isComplete: this.isListComplete, sandboxes }
  }

  async inspect({ id }: { readonly id: string }) {
    return { state: this.present.has(id) ? ('running' as const) : ('absent' as const) }
  }

  onTerminate: () => void = () => undefined

  async terminate({ id }: { readonly id: string }): Promise<void> {
    this.onTerminate()
    if (!this.immortal.has(id)) this.present.delete(id)
  }

  async logs(): Promise<string> {
    return this.output
  }

  async resources() {
    return { cpuPercent: 99.4, memoryMb: 120 }
  }
}

/** A fleet behind its API, as a host reaches it. */
export class SampleFleet {
  readonly host = new TestHost()
  readonly driver = new SampleDriver()
  readonly store = new MemoryFleetStore()
  readonly requests: Request[] = []
  readonly fleet = new Fleet({
    store: this.store,
    drivers: [this.driver],
    environment: 'test',
    clock: this.host.clock,
  })
  readonly #app = createFleetApp({
    fleet: this.fleet,
    adminToken: TOKEN,
    clock: this.host.clock,
  })

  constructor() {
    this.host.env = { HELIX_FLEET_URL: URL_OF_FLEET, HELIX_FLEET_TOKEN: TOKEN }
    this.host.fleetStore = this.store
    this.host.fetch = async (input, init) => {
      const request = new Request(input, init)
      this.requests.push(request)
      const url = new URL(request.url)
      // As when it is mounted below a path.
      url.pathname = url.pathname.replace(/^\/ops/, '')
      return this.#app.fetch(new Request(url, request))
    }
  }

  /** Opens one and lets go of it. */
  async add(id: string, labels: { readonly agentType?: string; readonly taskId?: string } = {}) {
    const request = { id, provider: 'sample', ...labels }
    const lease = await this.fleet.admission.open(request, async () => {
      this.driver.present.add(id)
    })
    await lease.run(async () => 'done')
    await lease.release()
  }

  /** A destroy that is not confirmed. */
  async addOwed(id: string): Promise<void> {
    await this.add(id)
    this.driver.immortal.add(id)
    await this.fleet.terminate(id)
  }

  async later(minutes: number): Promise<void> {
    await this.host.clock.advance(minutes * MINUTE_MS)
  }

  async statusOf(id: string): Promise<string> {
    return (await this.fleet.get(id)).status
  }
}
