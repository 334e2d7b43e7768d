import { ManualClock } from '@helix-agents/core/testing'
import {
  createFleetApp,
  Fleet,
  type FleetApp,
  type FleetAppOptions,
  type FleetDriver,
  MemoryFleetStore,
  type ProbeState,
} from '@helix-agents/sandbox-fleet'

export const TOKEN = 'an-admin-token-of-the-tests'
export const MINUTE_MS = 60_000

/** A provider in memory: what it has, and how it answers. */
export class TestDriver implements FleetDriver {
  readonly provider = 'test'
  readonly sandboxes = new Map<string, ProbeState>()
  destroyFails = false

  async inspect({ id }: { readonly id: string }): Promise<{ readonly state: ProbeState }> {
    return { state: this.sandboxes.get(id) ?? 'absent' }
  }

  async terminate({ id }: { readonly id: string }): Promise<void> {
    if (this.destroyFails) throw new Error('the provider rejected api_key=secret-key-123')
    this.sandboxes.delete(id)
  }

  async list(): Promise<{
    readonly isComplete: boolean
    readonly sandboxes: readonly { readonly id: string; readonly environment: string }[]
  }> {
    const ids = [...this.sandboxes.keys()]
    return { isComplete: true, sandboxes: ids.map((id) => ({ id, environment: 'test' })) }
  }

  async logs(): Promise<string> {
    return 'first\nsecond\n'
  }

  async resources(): Promise<{ readonly cpuPercent: number; readonly memoryMb: number }> {
    return { cpuPercent: 95, memoryMb: 120 }
  }
}

export interface Harness {
  readonly app: FleetApp
  readonly clock: ManualClock
  readonly driver: TestDriver
  readonly store: MemoryFleetStore
  readonly fleet: Fleet
  /** A running sandbox that nobody holds any more. */
  readonly addLeaked: (id: string, labels?: { readonly critical?: boolean }) => Promise<void>
  readonly ask: (
    path: string,
    init?: RequestInit & { readonly token?: string | null },
  ) => Promise<Response>
}

export function setup(options: Partial<FleetAppOptions> = {}): Harness {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const driver = new TestDriver()
  const store = new MemoryFleetStore()
  const policy = { callRetries: 0 }
  const fleet = new Fleet({ store, drivers: [driver], environment: 'test', policy, clock })
  const app = createFleetApp({ fleet, adminToken: TOKEN, clock, ...options })
  return {
    app,
    clock,
    driver,
    store,
    fleet,
    async addLeaked(id, labels = {}) {
      const reporter = fleet.reporter(`owner of ${id}`)
      const sandbox = { id, provider: 'test', agentType: 'implementation', ...labels }
      reporter.provisioning(sandbox)
      reporter.opened(sandbox)
      reporter.released(id)
      await reporter.flush()
      await reporter.stop()
      driver.sandboxes.set(id, 'running')
    },
    async ask(path, { token = TOKEN, ...init } = {}) {
      const headers = new Headers(init.headers)
      if (token !== null) headers.set('Authorization', `Bearer ${token}`)
      return app.request(path, { ...init, headers })
    },
  }
}
