import type { FleetContext } from '../fleet-context.ts'
import { stateKey } from '../fleet-stats.ts'
import { leaseLost } from '../store/revive-record.ts'
import type { LeaseFence } from '../store/fleet-store.ts'

/** Of each environment: sweepers of several have nothing in common. */
const NAME = 'sweep'

/** The right of one sweeper to end sandboxes, until it gives it back or shows no sign of life. */
export class SweepLease {
  readonly #context: FleetContext
  readonly #fence: LeaseFence
  readonly #holder: string
  #keptAt: number

  private constructor(context: FleetContext, holder: string, token: number) {
    this.#context = context
    this.#holder = holder
    this.#fence = { name: stateKey(context, NAME), token }
    this.#keptAt = context.clock.now()
  }

  /** Undefined while another sweeper has it. @throws {FleetError} `unavailable` */
  static async acquire(context: FleetContext): Promise<SweepLease | undefined> {
    const { clock, instanceId, random } = context
    // Of this pass alone: two of one process do not share it.
    const holder = `${instanceId}:${clock.now()}:${random()}`
    const token = await request(context, holder)
    return token === undefined ? undefined : new SweepLease(context, holder, token)
  }

  /**
   * Renews it when it is time, also by the clock of the ledger; the proof that it is still held.
   * @throws {FleetError} `lease-lost`, `unavailable`
   */
  async keep(): Promise<LeaseFence> {
    const { clock, policy } = this.#context
    await clock.keepTime()
    const now = clock.now()
    if (now - this.#keptAt < policy.sweepLeaseMs / 4) return this.#fence
    const token = await request(this.#context, this.#holder)
    if (token !== this.#fence.token) throw leaseLost()
    this.#keptAt = now
    return this.#fence
  }

  release(): Promise<void> {
    return this.#context.store.releaseLease(this.#fence)
  }
}

function request(context: FleetContext, holder: string): Promise<number | undefined> {
  const { clock, policy, store } = context
  const name = stateKey(context, NAME)
  return store.acquireLease({ name, holder, ttlMs: policy.sweepLeaseMs, now: clock.now() })
}
