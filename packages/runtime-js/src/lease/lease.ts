import { StateStoreError } from '@helix-agents/core'
import type { RunWrite } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

export interface ClaimOptions {
  readonly services: Pick<RunServices, 'stateStore' | 'clock' | 'leaseMs' | 'logger'>
  readonly sessionId: string
  readonly runId: string
  /** When the store was asked for it, with the time of {@link leaseFor}. */
  readonly claimedAt: number
  /** The claim of the parent, for a sub-agent. */
  readonly parent?: Claim | undefined
  /** Called once it is known that another run has the session. */
  readonly onLost: () => void
}

/**
 * The lease, in milliseconds, of what is claimed or renewed now. That of a sub-agent ends with its
 * parent's: who takes over the parent of a process that died finds its sub-agents free as well.
 */
export function leaseFor(leaseMs: number, parent: Claim | undefined, now: number): number {
  return parent === undefined ? leaseMs : Math.max(1, Math.min(leaseMs, parent.expiresAt - now))
}

/** What a run holds its session by: a lease that is renewed while the run lives. */
export class Claim {
  readonly #options: ClaimOptions
  #expiresAt: number

  constructor(options: ClaimOptions) {
    this.#options = options
    this.#expiresAt = options.claimedAt + this.#leaseAt(options.claimedAt)
  }

  /** When the lease runs out unless it is renewed before. */
  get expiresAt(): number {
    return this.#expiresAt
  }

  /** What every write to the store carries. */
  write(): RunWrite {
    const { sessionId, runId, services } = this.#options
    return { sessionId, runId, now: services.clock.now() }
  }

  /** Renews the lease by itself; the result ends that. */
  keep(): () => void {
    const { services, sessionId, runId } = this.#options
    let cancel: (() => void) | undefined
    let ended = false
    const renew = async (): Promise<void> => {
      try {
        await this.#renew()
      } catch (err) {
        if (isLost(err)) return
        services.logger.warn({ err, sessionId, runId }, 'claim not renewed')
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
   * Whether the lease has run out without a renewal: the machine was asleep, or the store did
   * not answer. Another process may have taken the session then.
   */
  get isStale(): boolean {
    return this.#options.services.clock.now() >= this.#expiresAt
  }

  /**
   * Makes sure that the session is still this run's, before it does what cannot be taken back.
   * Asks the store only when the lease has run out.
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
      if (isLost(error)) onLost()
      throw error
    }
  }

  #leaseAt(now: number): number {
    const { services, parent } = this.#options
    return leaseFor(services.leaseMs, parent, now)
  }
}

/** Whether the store says that the session is not this run's any more. */
export function isLost(error: unknown): boolean {
  if (!StateStoreError.isInstance(error)) return false
  return error.code === 'conflict' || error.code === 'not-found'
}
