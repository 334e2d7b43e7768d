import { withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import type { KillReason, SandboxRecord } from '../ledger/sandbox-record.ts'
import { type ReporterOptions, warnOfHoldEnd } from '../report/hold-warning.ts'
import { recordActivity, renewLease } from '../report/ledger-writes.ts'
import { recordReleased } from '../report/ledger-ends.ts'
import { terminateSandbox, type TerminateOutcome } from '../sweep/terminate-sandbox.ts'

export interface HoldWarning extends ReporterOptions {
  readonly sessionId: string | undefined
}

export interface SandboxLeaseParts {
  readonly id: string
  /** The life that is held. */
  readonly generation: number
  /** It comes from a pool and served another request before. */
  readonly wasReused: boolean
  readonly holder: string
  /** Whom to warn before the hold ends. */
  readonly warning: HoldWarning
  /** Called once, when it is released or ended. */
  readonly onEnd: () => void
}

/** Options of one operation in a sandbox. */
export interface RunOptions {
  /** Default: `operationTimeoutMs` of the policy. */
  readonly timeoutMs?: number
}

/** The right to use one sandbox. Renewed until it is released or the sandbox is ended. */
export class SandboxLease {
  /** Id of the sandbox. */
  readonly id: string
  /** It comes from a pool and served another request before. */
  readonly wasReused: boolean
  readonly #context: FleetContext
  readonly #holder: string
  readonly #generation: number
  readonly #warning: HoldWarning
  /** Aborts when the fleet has ended the sandbox. */
  readonly #lost = new AbortController()
  readonly #onEnd: () => void
  #cancelTimer: () => void = () => {}
  #isOver = false
  #isWarned = false

  constructor(context: FleetContext, parts: SandboxLeaseParts) {
    this.id = parts.id
    this.wasReused = parts.wasReused
    this.#context = context
    this.#holder = parts.holder
    this.#generation = parts.generation
    this.#onEnd = parts.onEnd
    this.#warning = parts.warning
    this.#keep()
  }

  /**
   * Runs an operation in the sandbox. After its timeout it is aborted and the sandbox is destroyed,
   * since what hangs in it would keep running. The signal also aborts when the sandbox is ended
   * elsewhere.
   * @throws {FleetError} `operation-timeout`; `invalid-transition` when the sandbox was released or
   * ended; and whatever `operation` throws.
   */
  async run<T>(
    operation: (signal: AbortSignal) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    if (this.#isOver) {
      throw new FleetError('invalid-transition', 'the sandbox was released', { sandboxId: this.id })
    }
    const { clock, policy } = this.#context
    const { timeoutMs = policy.operationTimeoutMs } = options
    const overrun = new AbortController()
    const onTimeout = (): FleetError => {
      const error = new FleetError('operation-timeout', `the operation exceeded ${timeoutMs} ms`, {
        sandboxId: this.id,
      })
      overrun.abort(error)
      return error
    }
    const signal = AbortSignal.any([overrun.signal, this.#lost.signal])
    try {
      const result = await withDeadline(operation(signal), { clock, timeoutMs, onTimeout })
      await this.#recordOperation(true, false)
      return result
    } catch (error) {
      await this.#recordOperation(false, overrun.signal.aborted)
      if (overrun.signal.aborted) await this.#endHung(timeoutMs)
      throw error
    }
  }

  /** Releases it: into a pool for reuse, or without a holder, to be cleaned up. */
  async release(options: { readonly pool?: string } = {}): Promise<void> {
    if (!this.#end()) return
    const lastsMs = this.#context.policy.poolRetentionMs
    const { pool } = options
    const waiting =
      pool === undefined ? undefined : ({ kind: 'pool', holder: pool, lastsMs } as const)
    await recordReleased(this.#context, this.id, { holder: this.#holder, waiting })
    this.#onEnd()
  }

  /** Destroys it now. @param detail Why, for the record. */
  async terminate(detail = 'its owner is done'): Promise<TerminateOutcome> {
    this.#end()
    try {
      return await this.#destroy('owner-closed', detail)
    } finally {
      this.#onEnd()
    }
  }

  async #endHung(timeoutMs: number): Promise<void> {
    this.#end()
    const detail = `an operation exceeded ${timeoutMs} ms`
    await this.#quietly(() => this.#destroy('operation-timeout', detail))
    this.#onEnd()
  }

  /** Never a later life of the same id. */
  #destroy(reason: KillReason, detail: string): Promise<TerminateOutcome> {
    const request = { reason, detail, by: this.#holder, generation: this.#generation }
    return terminateSandbox(this.#context, this.id, request)
  }

  async #recordOperation(succeeded: boolean, timedOut: boolean): Promise<void> {
    const { clock, store } = this.#context
    const timeouts = timedOut ? 1 : 0
    const renewal = { holder: this.#holder, generation: this.#generation }
    await this.#quietly(async () => {
      await clock.keepTime()
      const at = clock.now()
      await store.addUsage({ executions: 1, timeouts }, at)
      const activity = { at, operations: 1, timeouts, timeoutsInARow: timeouts, succeeded }
      await recordActivity(this.#context, this.id, { ...activity, ...renewal })
    })
  }

  /** The operation has its own result, whatever the ledger does. */
  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (err) {
      this.#context.logger.warn({ sandboxId: this.id, err }, fleetMessages.reportLost)
    }
  }

  #keep(): void {
    const { clock, policy } = this.#context
    this.#cancelTimer = clock.setTimer(policy.ownerLeaseMs / 3, () => {
      void this.#quietly(() => this.#renew())
      if (!this.#isOver) this.#keep()
    })
  }

  async #renew(): Promise<void> {
    const onStored = (record: SandboxRecord): void => this.#warn(record)
    const renewal = { holder: this.#holder, generation: this.#generation, onStored }
    if (await renewLease(this.#context, this.id, renewal)) return
    if (!this.#end()) return
    const error = new FleetError('invalid-transition', 'the sandbox was ended', {
      sandboxId: this.id,
    })
    this.#lost.abort(error)
    this.#onEnd()
  }

  #warn(record: SandboxRecord): void {
    if (this.#isWarned) return
    const { onHoldEnding, sessionId = '' } = this.#warning
    const options = { sessions: new Set([sessionId]), ...(onHoldEnding && { onHoldEnding }) }
    this.#isWarned = warnOfHoldEnd(this.#context, record, options)
  }

  /** @returns false when it is over already. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#cancelTimer()
    return true
  }
}
