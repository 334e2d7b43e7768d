import type {
  FleetDriver,
  ProbeState,
  SandboxProbe,
  SandboxTarget,
} from '../driver/fleet-driver.ts'

/** What of a sandbox is called. A stub of `@cloudflare/sandbox` fits. */
export interface FleetSandboxStub {
  /** Does not start the container; it does make an object for an id that is not known. */
  getState(): Promise<{ readonly status: string; readonly exitCode?: number | undefined }>
  /** Several at once are one; that nothing runs counts as done. */
  destroy(): Promise<void>
}

/** Options of `CloudflareSandboxFleetDriver`. */
export interface CloudflareSandboxFleetDriverOptions {
  /**
   * The sandbox of an id, with the same options as where it is used. It is called for ids of the
   * ledger alone: asking Cloudflare about an unknown one makes it.
   */
  readonly getSandbox: (id: string) => FleetSandboxStub
  /** Key of its sandboxes in the ledger. Default `cloudflare-sandbox`. */
  readonly provider?: string
}

const STATES: ReadonlyMap<string, ProbeState> = new Map(
  Object.entries<ProbeState>({
    running: 'running',
    healthy: 'running',
    stopping: 'stopping',
    stopped: 'stopped',
    stopped_with_code: 'stopped',
  }),
)

/**
 * Cloudflare sandboxes. They cannot be listed: one without a record cannot be found, so the intent
 * must be recorded before one is created. A container that stopped uses nothing, and its
 * disk is gone.
 */
export class CloudflareSandboxFleetDriver implements FleetDriver {
  readonly provider: string
  readonly #getSandbox: CloudflareSandboxFleetDriverOptions['getSandbox']

  constructor(options: CloudflareSandboxFleetDriverOptions) {
    this.provider = options.provider ?? 'cloudflare-sandbox'
    this.#getSandbox = options.getSandbox
  }

  async inspect({ id }: SandboxTarget): Promise<SandboxProbe> {
    const { exitCode, status } = await this.#getSandbox(id).getState()
    const state = STATES.get(status)
    if (state === undefined) return { state: 'unknown', detail: `the state is ${status}` }
    return exitCode === undefined ? { state } : { state, detail: `exit code ${exitCode}` }
  }

  async terminate({ id }: SandboxTarget): Promise<void> {
    await this.#getSandbox(id).destroy()
  }
}
