import { type Clock, type Logger, StateStoreError } from '@helix-agents/core'
import type { RunWrite, SessionStateStore } from '@helix-agents/core/runtime'

/** What a lease needs of its executor. */
export interface LeaseServices {
  readonly stateStore: Pick<SessionStateStore, 'renewRun'>
  readonly clock: Clock
  readonly logger: Logger
  readonly leaseMs: number
}

export interface LeaseOptions {
  readonly services: LeaseServices
  readonly sessionId: string
  readonly runId: string
  /** When the store was asked for it, with the duration of {@link leaseFor}. */
  readonly startedAt: number
  /** The lease of the parent, for a sub-agent. */
  readonly parent?: Lease | undefined
  /** Called once it is known that another run has the session. */
  readonly onLost: () => void
}

/**
 * The duration, in milliseconds, of a lease that is acquired or renewed now. That of a sub-agent
 * ends with its parent's: who takes over the parent of a dead process finds its sub-agents free.
 */
export function leaseFor(leaseMs: number, parent: Lease | undefined, now: number): number {
  return parent === undefined ? leaseMs : Math.max(1, Math.min(leaseMs, parent.expiresAt - now))
}

/** The run's lease on its session; renewed on a timer. */
export class Lease {
  readonly #options: LeaseOptions
  #expiresAt: number

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#expiresAt = options.startedAt + this.#leaseAt(options.startedAt)
  }

  /** When the lease expires unless it is renewed before; milliseconds since the epoch. */
  get expiresAt(): number {
    return this.#expiresAt
  }

  /** What every write to the store carries. */
  write(): RunWrite {
    const { sessionId, runId, services } = this.#options
    return { sessionId, runId, now: services.clock.now() }
  }

  /** Renews the lease on a timer; the result stops that. */
  keepRenewed(): () => void {
    const { services, sessionId, runId } = this.#options
    let cancel: (() => void) | undefined
    let ended = false
    const renew = async (): Promise<void> => {
      try {
        await this.#renew()
      } catch (err) {
        if (isLeaseLost(err)) return
        services.logger.warn({ err, sessionId, runId }, 'lease renewal failed')
      }
      schedule()
    }
    const schedule = (): void => {
      if (!ended) cancel = services.clock.setTimer(services.leaseMs / 3, () => void renew())
    }
    schedule()
    return () => {
      ended = true
      cancel?.()
    }
  }

  /**
   * Whether the lease has expired without a renewal: the machine was asleep, or the store did not
   * answer. Another process may have taken the session.
   */
  get isStale(): boolean {
    return this.#options.services.clock.now() >= this.#expiresAt
  }

  /**
   * Makes sure that the session is still this run's, before something that cannot be undone.
   * Asks the store only when the lease has expired.
   * @throws {StateStoreError} `conflict` when it is not; and what the store throws.
   */
  async confirm(): Promise<void> {
    if (this.isStale) await this.#renew()
  }

  async #renew(): Promise<void> {
    const write = this.write()
    const { services, onLost } = this.#options
    try {
      const leaseMs = this.#leaseAt(write.now)
      await services.stateStore.renewRun({ ...write, leaseMs })
      this.#expiresAt = write.now + leaseMs
    } catch (error) {
      if (isLeaseLost(error)) onLost()
      throw error
    }
  }

  #leaseAt(now: number): number {
    const { services, parent } = this.#options
    return leaseFor(services.leaseMs, parent, now)
  }
}

/** Whether the store says that the session is no longer this run's. */
export function isLeaseLost(error: unknown): boolean {
  if (!StateStoreError.isInstance(error)) return false
  return error.code === 'conflict' || error.code === 'not-found'
}
