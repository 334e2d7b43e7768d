import type { Clock, Logger } from '@helix-agents/core'
import { type TimerOptions, withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages } from './fleet-messages.ts'
import type { FleetPolicy } from './safety/fleet-policy.ts'
import type { FleetStore } from './store/fleet-store.ts'

/** Longest time for which the offset to the ledger's clock is reused. */
const MOST_KEPT_MS = 60_000

export interface LedgerClockOptions {
  /** Of this process. */
  readonly clock: Clock
  readonly store: FleetStore
  readonly policy: Pick<FleetPolicy, 'callTimeoutMs' | 'clockSkewMs' | 'ownerLeaseMs'>
  readonly logger: Logger
  /** Called when the clock of the ledger, or that of this process, has leapt. */
  readonly onLeap?: () => void
}

/**
 * The clock by which the ledger is written and judged: that of the ledger where it has one, else
 * that of this process. Timers always run on the clock of this process.
 */
export class LedgerClock implements Clock {
  readonly #options: LedgerClockOptions
  /** Much shorter than a lease lasts beyond its next renewal: a leap in between ends none. */
  readonly #keptMs: number
  #offsetMs: number | undefined
  #askedAt = 0
  #asking: Promise<void> | undefined

  constructor(options: LedgerClockOptions) {
    this.#options = options
    this.#keptMs = Math.min(MOST_KEPT_MS, options.policy.ownerLeaseMs / 4)
  }

  now(): number {
    return this.#options.clock.now() + (this.#offsetMs ?? 0)
  }

  setTimer(ms: number, callback: () => void, options?: TimerOptions): () => void {
    return this.#options.clock.setTimer(ms, callback, options)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#options.clock.sleep(ms, signal)
  }

  /**
   * Asks the ledger for its time when it has one and that is due. Call it before anything is
   * recorded or judged: a clock of this process that is off, or leaps, then has no effect.
   * @throws {FleetError} `unavailable` when it does not answer: an older answer may be wrong by now.
   */
  async keepTime(): Promise<void> {
    if (this.#options.store.now === undefined || !this.#isDue()) return
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    await this.#asking
  }

  #isDue(): boolean {
    const ageMs = this.#options.clock.now() - this.#askedAt
    return this.#offsetMs === undefined || ageMs >= this.#keptMs || ageMs < 0
  }

  async #ask(): Promise<void> {
    const { clock, policy } = this.#options
    const startedAt = clock.now()
    const ledgerMs = await this.#readLedger()
    const endedAt = clock.now()
    // When the clock has leapt during the call, the time of the answer is unknown.
    const hasLeapt = endedAt < startedAt || endedAt - startedAt > 2 * policy.callTimeoutMs
    if (hasLeapt) throw noAnswer()
    const offsetMs = ledgerMs - (startedAt + endedAt) / 2
    const changedMs = Math.abs(offsetMs - (this.#offsetMs ?? offsetMs))
    if (changedMs > policy.clockSkewMs) this.#options.onLeap?.()
    this.#warnIfOff(offsetMs)
    this.#offsetMs = offsetMs
    this.#askedAt = endedAt
  }

  async #readLedger(): Promise<number> {
    const { clock, policy, store } = this.#options
    const asked = Promise.resolve(store.now?.())
    const limit = { clock, timeoutMs: policy.callTimeoutMs, onTimeout: noAnswer }
    const ledgerMs = await withDeadline(asked, limit)
    if (ledgerMs === undefined || !Number.isFinite(ledgerMs)) throw noAnswer()
    return ledgerMs
  }

  /** Once, and not for each look. */
  #warnIfOff(offsetMs: number): void {
    const { logger, policy } = this.#options
    const isOff = Math.abs(offsetMs) > policy.clockSkewMs
    const wasOff = Math.abs(this.#offsetMs ?? 0) > policy.clockSkewMs
    if (isOff && !wasOff) logger.warn({ offsetMs: Math.round(offsetMs) }, fleetMessages.clockOff)
  }
}

function noAnswer(): FleetError {
  return new FleetError('unavailable', 'the clock of the ledger did not answer')
}
