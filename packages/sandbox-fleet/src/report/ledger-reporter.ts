import { backoffMs, withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetReporter, ReportedActivity } from './fleet-reporter.ts'
import { type ReporterOptions, warnOfHoldEnd } from './hold-warning.ts'
import {
  recordActivity,
  recordOpened,
  recordOpening,
  recordProvisioning,
  renewLease,
} from './ledger-writes.ts'
import {
  recordFailed,
  recordGone,
  recordOwed,
  recordReleased,
  type Waiting,
} from './ledger-ends.ts'
import type { SandboxDescription } from './fleet-reporter.ts'

const MAX_ATTEMPTS = 6

/** A held sandbox, with its operations since the last report. */
interface Held {
  sandbox: SandboxDescription
  /** Sessions of this process that use it. */
  readonly users: Set<string>
  /** The generation that is held; absent until the ledger has a record. */
  generation: number | undefined
  /** Its sessions were warned that this hold ends soon. */
  isWarned: boolean
  at: number
  operations: number
  timeouts: number
  /** Since the last operation that succeeded. */
  timeoutsInARow: number
  succeeded: boolean
}

const NOTHING_DONE = { operations: 0, timeouts: 0, timeoutsInARow: 0, succeeded: false }

/** Reports to the ledger in the background: in order for each sandbox, with few writes. */
export class LedgerReporter implements FleetReporter {
  readonly #context: FleetContext
  readonly #holder: string
  readonly #options: ReporterOptions
  readonly #held = new Map<string, Held>()
  /** The last report of each sandbox that is under way. */
  readonly #pending = new Map<string, Promise<void>>()
  readonly #usage = { executions: 0, timeouts: 0 }
  #cancelTimer: (() => void) | undefined
  #isStopped = false

  /** @param holder Name of who holds the sandboxes, such as a process. */
  constructor(context: FleetContext, holder: string, options: ReporterOptions = {}) {
    this.#context = context
    this.#holder = holder
    this.#options = options
  }

  provisioning(sandbox: SandboxDescription): void {
    this.#report(sandbox.id, async () => {
      await recordProvisioning(this.#context, sandbox, { holder: this.#holder })
    })
  }

  opened(sandbox: SandboxDescription): void {
    const held = this.#hold(sandbox)
    this.#startTimer()
    this.#report(sandbox.id, () => this.#open(held))
  }

  async admit(sandbox: SandboxDescription): Promise<void> {
    const { clock, policy } = this.#context
    await this.#pending.get(sandbox.id)
    const work = recordOpening(this.#context, sandbox, this.#holder)
    const limit = { clock, timeoutMs: policy.callTimeoutMs, onTimeout: tooLate }
    await withDeadline(work, limit)
  }

  failed(id: string, error: { readonly code: string; readonly message: string }): void {
    this.#held.delete(id)
    const holder = this.#holder
    this.#report(id, () => recordFailed(this.#context, id, { ...error, holder }))
  }

  activity(id: string, { succeeded = true, timedOut = false }: ReportedActivity = {}): void {
    const held = this.#held.get(id)
    if (held === undefined) return
    held.at = this.#context.clock.now()
    const isGood = succeeded && !timedOut
    const timeouts = timedOut ? 1 : 0
    held.operations += 1
    held.timeouts += timeouts
    held.timeoutsInARow = isGood ? 0 : held.timeoutsInARow + timeouts
    held.succeeded ||= isGood
    this.#countUsage(timedOut)
  }

  detached(id: string, sessionId?: string): void {
    const lastsMs = this.#context.policy.detachedRetentionMs
    if (!this.#isUsedOn(id, sessionId)) {
      this.#release(id, { kind: 'detached', holder: this.#holder, lastsMs })
    }
  }

  released(id: string, sessionId?: string): void {
    if (!this.#isUsedOn(id, sessionId)) this.#release(id, undefined)
  }

  closed(id: string, sessionId?: string): void {
    if (this.#isUsedOn(id, sessionId)) return
    this.#held.delete(id)
    const end = { detail: 'closed by its owner', holder: this.#holder }
    this.#report(id, () => recordGone(this.#context, id, end))
  }

  owed(id: string, detail: string, sessionId?: string): void {
    if (this.#isUsedOn(id, sessionId)) return
    const held = this.#held.get(id)
    this.#held.delete(id)
    const end = { detail, holder: this.#holder }
    this.#report(id, () => this.#known(held, () => recordOwed(this.#context, id, end)))
  }

  async flush(): Promise<void> {
    for (const [id, held] of this.#held) if (held.operations > 0) this.#renew(id, held)
    while (this.#pending.size > 0) await Promise.all(this.#pending.values())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    const flushed = this.flush()
    this.#held.clear()
    await flushed
  }

  /** Operations before it was reopened are still to be reported. */
  #hold(sandbox: SandboxDescription): Held {
    const at = this.#context.clock.now()
    const before = this.#held.get(sandbox.id) ?? { users: new Set<string>(), ...NOTHING_DONE }
    const held = Object.assign(before, { sandbox, at, generation: undefined, isWarned: false })
    held.users.add(sandbox.sessionId ?? '')
    this.#held.set(sandbox.id, held)
    return held
  }

  async #open(held: Held): Promise<void> {
    const { generation } = await recordOpened(this.#context, held.sandbox, this.#holder)
    held.generation = generation
  }

  /** One session releases it; others of this process may share it and keep it. */
  #isUsedOn(id: string, sessionId: string | undefined): boolean {
    const users = this.#held.get(id)?.users
    if (users === undefined || sessionId === undefined) return false
    users.delete(sessionId)
    return users.size > 0
  }

  #release(id: string, waiting: Waiting | undefined): void {
    const holder = this.#holder
    const held = this.#held.get(id)
    if (held !== undefined && held.operations > 0) this.#renew(id, held)
    this.#held.delete(id)
    const release = () => recordReleased(this.#context, id, { holder, waiting })
    this.#report(id, () => this.#known(held, release))
  }

  /** After a long outage the ledger may have no record of a held sandbox: it is opened again. */
  async #known<T>(held: Held | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const isUnknown = FleetError.isInstance(error) && error.code === 'unknown-sandbox'
      if (!isUnknown || held === undefined) throw error
    }
    await this.#open(held)
    return work()
  }

  /** One write for all that was done since the last one renews the lease as well. */
  #renewAll(): void {
    // What is under way renews the lease as well, and a ledger that is away gets no queue.
    for (const [id, held] of this.#held) if (!this.#pending.has(id)) this.#renew(id, held)
    this.#cancelTimer = undefined
    if (this.#held.size > 0) this.#startTimer()
  }

  #renew(id: string, held: Held): void {
    const { at, operations, succeeded, timeouts, timeoutsInARow } = held
    Object.assign(held, NOTHING_DONE)
    const done = { at, operations, succeeded, timeouts, timeoutsInARow }
    const renew = async (): Promise<boolean> => {
      // The report of its opening was lost, or rejected while it was being destroyed.
      if (held.generation === undefined) await this.#open(held)
      const { generation } = held
      const onStored = (record: SandboxRecord): void => this.#warn(held, record)
      const renewal = {
        holder: this.#holder,
        onStored,
        ...(generation !== undefined && { generation }),
      }
      return operations === 0
        ? renewLease(this.#context, id, renewal)
        : recordActivity(this.#context, id, { ...done, ...renewal })
    }
    this.#report(id, async () => {
      const isKept = await this.#known(held, renew)
      if (!isKept && this.#held.get(id) === held) this.#held.delete(id)
    })
  }

  #warn(held: Held, record: SandboxRecord): void {
    if (held.isWarned) return
    const options = { ...this.#options, sessions: held.users }
    held.isWarned = warnOfHoldEnd(this.#context, record, options)
  }

  #startTimer(): void {
    if (this.#cancelTimer !== undefined || this.#isStopped) return
    const { clock, policy } = this.#context
    this.#cancelTimer = clock.setTimer(policy.ownerLeaseMs / 3, () => this.#renewAll())
  }

  #countUsage(timedOut: boolean): void {
    this.#usage.executions += 1
    if (timedOut) this.#usage.timeouts += 1
    if (this.#pending.has('')) return
    this.#report('', () => this.#reportUsage())
  }

  /** Usage that is not stored is reported with the next. */
  async #reportUsage(): Promise<void> {
    const { executions, timeouts } = this.#usage
    await this.#context.clock.keepTime()
    await this.#context.store.addUsage({ executions, timeouts }, this.#context.clock.now())
    this.#usage.executions -= executions
    this.#usage.timeouts -= timeouts
  }

  #report(id: string, work: () => Promise<void>): void {
    const before = this.#pending.get(id) ?? Promise.resolve()
    const after = before.then(() => this.#attempt(id, work))
    this.#pending.set(id, after)
    void this.#forgetWhenDone(id, after)
  }

  async #forgetWhenDone(id: string, report: Promise<void>): Promise<void> {
    await report
    if (this.#pending.get(id) === report) this.#pending.delete(id)
  }

  /** Never rejects. */
  async #attempt(id: string, work: () => Promise<void>): Promise<void> {
    const { clock, logger, policy, random } = this.#context
    const limit = { clock, timeoutMs: policy.callTimeoutMs, onTimeout: tooLate }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await withDeadline(work(), limit)
      } catch (err) {
        if (!mayPass(err) || attempt === MAX_ATTEMPTS) {
          return logger.warn({ sandboxId: id, err }, fleetMessages.reportLost)
        }
      }
      await clock.sleep(backoffMs(attempt - 1, random))
    }
  }
}

/** A ledger that does not answer must not hold up the end of a process. */
function tooLate(): FleetError {
  return new FleetError('unavailable', 'the ledger did not answer in time')
}

/** What is being destroyed is gone soon, and may be made again under its id. */
function mayPass(error: unknown): boolean {
  if (!FleetError.isInstance(error)) return true
  return error.transient || error.code === 'invalid-transition'
}
