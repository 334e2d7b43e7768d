import { withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import { type FleetContext, ruleContext, targetOf, toSandboxError } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { holding } from '../ledger/record-changes.ts'
import type { SandboxLabels, SandboxRecord } from '../ledger/sandbox-record.ts'
import { ownerHold, recordOpened, recordProvisioning } from '../report/ledger-writes.ts'
import { recordFailed } from '../report/ledger-ends.ts'
import type { SandboxDescription } from '../report/fleet-reporter.ts'
import type { ReporterOptions } from '../report/hold-warning.ts'
import { AdmissionQueue } from './admission-queue.ts'
import { SandboxLease } from './sandbox-lease.ts'

const POLL_MS = 1000
const DEFAULT_QUEUE_TIMEOUT_MS = 60_000

/** A request for a sandbox. */
export interface AdmissionRequest extends SandboxDescription, ReporterOptions {
  /** Name of the holder. Default: a name of this process. */
  readonly holder?: string
  /** Reuses a sandbox of this pool, if there is one, instead of creating one. */
  readonly pool?: string
  /** Behaviour at full capacity. Default `reject`. */
  readonly onFull?: 'queue' | 'reject'
  /** Longest wait in the queue, in milliseconds. Default 60 000. */
  readonly queueTimeoutMs?: number
}

/** Creates the sandbox of this id. The signal aborts after `provisionTimeoutMs`. */
export type CreateSandbox = (id: string, signal: AbortSignal) => Promise<void>

/** Opens sandboxes up to the capacity, over all processes. */
export class Admission {
  readonly #context: FleetContext
  readonly #queue = new AdmissionQueue()

  constructor(context: FleetContext) {
    this.#context = context
  }

  /** Requests of this process that wait for capacity. */
  get queueLength(): number {
    return this.#queue.length
  }

  /**
   * Reserves capacity, records the intent, creates the sandbox, and leases it.
   * @throws {FleetError} `capacity-exhausted` (`Maximum sandbox limit reached`), `driver-failed`
   * when it could not be made in time, `already-exists`, `invalid-record`, `unavailable`; and
   * what `create` throws.
   */
  async open(request: AdmissionRequest, create: CreateSandbox): Promise<SandboxLease> {
    // Those in the pool are chosen by it.
    await this.#context.clock.keepTime()
    const { holder = `process:${this.#context.instanceId}` } = request
    const reused = await this.#reserveFromPool(request, holder)
    if (reused !== undefined) return this.#lease(reused, request, { holder, wasReused: true })
    await this.#reserve(request, holder)
    await this.#make(request, holder, create)
    const opened = await recordOpened(this.#context, describe(request), holder)
    return this.#lease(opened, request, { holder, wasReused: false })
  }

  #lease(
    { id, generation }: SandboxRecord,
    { onHoldEnding, sessionId }: AdmissionRequest,
    how: { readonly holder: string; readonly wasReused: boolean },
  ): SandboxLease {
    const onEnd = (): void => this.#queue.wakeFirst()
    const warning = { sessionId, ...(onHoldEnding !== undefined && { onHoldEnding }) }
    return new SandboxLease(this.#context, { id, generation, ...how, warning, onEnd })
  }

  async #reserve(request: AdmissionRequest, holder: string): Promise<void> {
    const { clock, policy } = this.#context
    const maxActive = policy.maxConcurrentSandboxes
    const attempt = () =>
      recordProvisioning(this.#context, describe(request), { holder, maxActive })
    if (request.onFull !== 'queue') {
      await attempt()
      return
    }
    const { queueTimeoutMs: timeoutMs = DEFAULT_QUEUE_TIMEOUT_MS } = request
    await this.#queue.wait(attempt, { clock, timeoutMs, pollMs: POLL_MS })
  }

  async #make(
    { id, provider }: AdmissionRequest,
    holder: string,
    create: CreateSandbox,
  ): Promise<void> {
    const { clock, policy } = this.#context
    const timeoutMs = policy.provisionTimeoutMs
    const overrun = new AbortController()
    const onTimeout = (): FleetError => {
      const error = new FleetError(
        'driver-failed',
        `the provider ${provider} did not make a sandbox within ${timeoutMs} ms`,
        { sandboxId: id },
      )
      overrun.abort(error)
      return error
    }
    try {
      await withDeadline(create(id, overrun.signal), { clock, timeoutMs, onTimeout })
    } catch (error) {
      await this.#recordFailure(id, holder, error)
      throw error
    }
  }

  async #recordFailure(id: string, holder: string, error: unknown): Promise<void> {
    try {
      await recordFailed(this.#context, id, { ...toSandboxError(error), holder })
    } catch (err) {
      this.#context.logger.warn({ sandboxId: id, err }, fleetMessages.reportLost)
    }
    this.#queue.wakeFirst()
  }

  /** The first to lease it has it; one that is not seen running is left to the cleanup. */
  async #reserveFromPool(
    request: AdmissionRequest,
    holder: string,
  ): Promise<SandboxRecord | undefined> {
    const { pool, provider } = request
    if (pool === undefined) return undefined
    const { environment, store } = this.#context
    const { records } = await store.list({ status: 'running', provider, environment, pool })
    for (const record of records) {
      // A tenant must not see what another one left in it.
      if (record.tenant !== request.tenant) continue
      if (await this.#reuse(record, request, holder)) return record
    }
    return undefined
  }

  async #reuse(record: SandboxRecord, request: AdmissionRequest, holder: string): Promise<boolean> {
    const { clock, drivers, rules, store } = this.#context
    if (rules.isUnleased(record, ruleContext(this.#context))) return false
    const probe = await drivers.get(record.provider)?.inspect(targetOf(record))
    if (probe?.state !== 'running') return false
    try {
      const { sessionId: _s, agentType: _a, taskId: _t, ...rest } = record
      const version = record.version + 1
      const critical = request.critical ?? false
      const own = { ...labelsOf(request), critical }
      const next = { ...rest, ...own, version, lastActivityAt: clock.now() }
      await store.update(holding(next, ownerHold(this.#context, holder)))
      return true
    } catch (error) {
      if (FleetError.isInstance(error) && error.code === 'conflict') return false
      throw error
    }
  }
}

/** Whose it is from now on. */
function labelsOf({ agentType, sessionId, taskId }: AdmissionRequest): SandboxLabels {
  return {
    ...(agentType !== undefined && { agentType }),
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
  }
}

function describe(request: AdmissionRequest): SandboxDescription {
  const {
    holder: _h,
    pool: _p,
    onFull: _o,
    queueTimeoutMs: _q,
    onHoldEnding: _w,
    ...description
  } = request
  return description
}
