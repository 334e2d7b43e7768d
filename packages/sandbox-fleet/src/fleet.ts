import { Admission } from './admission/admission.ts'
import {
  type Alert,
  type AlertPolicyInput,
  type AlertSink,
  parseAlertPolicy,
} from './alerts/alert.ts'
import { type AlertContext, evaluateAlerts } from './alerts/evaluate-alerts.ts'
import { diagnose } from './detect/diagnose.ts'
import type { Finding } from './detect/finding.ts'
import type { SandboxResources } from './driver/fleet-driver.ts'
import type { GuardedDriver } from './driver/guarded-driver.ts'
import { type FleetContext, ruleContext, targetOf } from './fleet-context.ts'
import { createFleetContext, type FleetContextOptions } from './fleet-options.ts'
import { type FleetStats, readStats } from './fleet-stats.ts'
import { runTick, type TickReport } from './fleet-tick.ts'
import type { SandboxRecord } from './ledger/sandbox-record.ts'
import type { ReconcileReport } from './reconcile/reconcile-report.ts'
import { type ReconcileOptions, runReconcile } from './reconcile/run-reconcile.ts'
import type { FleetReporter } from './report/fleet-reporter.ts'
import type { ReporterOptions } from './report/hold-warning.ts'
import { LedgerReporter } from './report/ledger-reporter.ts'
import type { FleetPolicy } from './safety/fleet-policy.ts'
import type { FleetPage, FleetQuery } from './store/fleet-store.ts'
import { noDriver, unknownSandbox } from './store/revive-record.ts'
import type { CleanupReport } from './sweep/cleanup-report.ts'
import { type CleanupOptions, runCleanup } from './sweep/run-cleanup.ts'
import {
  terminateSandbox,
  type TerminateOutcome,
  type TerminateRequest,
} from './sweep/terminate-sandbox.ts'

const FINDINGS_PAGES = 5

/** Options of a fleet. */
export interface FleetOptions extends FleetContextOptions {
  /** Destinations of alerts. Default: none. */
  readonly alertSinks?: readonly AlertSink[]
  /** Limits of alerts that differ from the defaults. */
  readonly alerts?: AlertPolicyInput
}

/** CPU, memory and operations of a sandbox. */
export interface SandboxUsage extends SandboxResources {
  /** Since its creation, in milliseconds. */
  readonly durationMs: number
  /** Operations in this generation. */
  readonly operations: number
}

/** Finds, explains and clears stuck and leaked sandboxes of one environment. */
export class Fleet {
  /** Opens sandboxes within the capacity. */
  readonly admission: Admission
  readonly #context: FleetContext
  readonly #alerts: AlertContext

  /** @throws {FleetError} `config-invalid` */
  constructor(options: FleetOptions) {
    this.#context = createFleetContext(options)
    this.admission = new Admission(this.#context)
    const policy = parseAlertPolicy(options.alerts ?? {}, this.#context.policy)
    this.#alerts = { fleet: this.#context, policy, sinks: options.alertSinks ?? [] }
  }

  /** Label of the deployment that this fleet manages. */
  get environment(): string {
    return this.#context.environment
  }

  /** The policy with every value set. */
  get policy(): FleetPolicy {
    return this.#context.policy
  }

  /** Providers of this fleet, and whether the circuit breaker of each is open. */
  get providers(): readonly { readonly provider: string; readonly isCoolingDown: boolean }[] {
    return [...this.#context.drivers.values()].map(({ provider, isCoolingDown }) => ({
      provider,
      isCoolingDown,
    }))
  }

  /**
   * The time by which the ledger is written and judged, in milliseconds since the epoch.
   * @throws {FleetError} `unavailable` when the clock of the ledger does not answer.
   */
  async now(): Promise<number> {
    await this.#context.clock.keepTime()
    return this.#context.clock.now()
  }

  /** Counts and usage. @throws {FleetError} `unavailable` */
  stats(): Promise<FleetStats> {
    return readStats(this.#context, this.#alerts.policy.timeoutWindowMs)
  }

  /**
   * Lists sandboxes, newest first; those of this environment unless the query says otherwise.
   * @throws {FleetError} `invalid-query`, `unavailable`
   */
  list(query: FleetQuery = {}): Promise<FleetPage> {
    return this.#context.store.list({ environment: this.environment, ...query })
  }

  /** The record of one sandbox. @throws {FleetError} `unknown-sandbox` */
  async get(id: string): Promise<SandboxRecord> {
    const record = await this.#context.store.get(id)
    if (record === undefined) throw unknownSandbox(id)
    return record
  }

  /**
   * Latest output of its commands.
   * @throws {FleetError} `unknown-sandbox`, `not-supported`, `driver-failed`
   */
  async logs(id: string): Promise<string> {
    const { driver, record } = await this.#resolve(id)
    return driver.logs(targetOf(record))
  }

  /**
   * CPU, memory and operations of one sandbox.
   * @throws {FleetError} `unknown-sandbox`, `not-supported`, `driver-failed`
   */
  async resources(id: string): Promise<SandboxUsage> {
    const { driver, record } = await this.#resolve(id)
    await this.#context.clock.keepTime()
    const used = await driver.resources(targetOf(record))
    const durationMs = this.#context.clock.now() - record.createdAt
    return { ...used, durationMs, operations: record.operations }
  }

  /** The findings of one sandbox. @throws {FleetError} `unknown-sandbox` */
  async diagnose(id: string): Promise<readonly Finding[]> {
    await this.#context.clock.keepTime()
    return this.#diagnose(await this.get(id))
  }

  /** The findings of the fleet: those of its newest 1,000 sandboxes that are not terminated. */
  async findings(): Promise<readonly Finding[]> {
    const status = ['provisioning', 'running', 'terminating', 'failed'] as const
    const findings: Finding[] = []
    await this.#context.clock.keepTime()
    let cursor: string | undefined
    for (let pages = 0; pages < FINDINGS_PAGES; pages += 1) {
      const query = { status, limit: 200, ...(cursor !== undefined && { cursor }) }
      const page = await this.list(query)
      findings.push(...page.records.flatMap((record) => this.#diagnose(record)))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    return findings
  }

  /**
   * Destroys one sandbox now, in use or not.
   * @throws {FleetError} `unknown-sandbox`, `not-supported`, `invalid-record` without a reason.
   */
  terminate(id: string, request: Partial<TerminateRequest> = {}): Promise<TerminateOutcome> {
    const defaults = { by: 'operator', detail: 'ended by hand', reason: 'operator' } as const
    return terminateSandbox(this.#context, id, { ...defaults, ...request })
  }

  /** One pass of cleanup. Never rejects. */
  cleanup(options: CleanupOptions = {}): Promise<CleanupReport> {
    return runCleanup(this.#context, 'scheduled', options)
  }

  /** Destroys everything that is not critical, in use or not. Never rejects. */
  emergency(options: CleanupOptions = {}): Promise<CleanupReport> {
    return runCleanup(this.#context, 'emergency', options)
  }

  /** Reconciles the ledger with the providers. Never rejects. */
  reconcile(options: ReconcileOptions = {}): Promise<ReconcileReport> {
    return runReconcile(this.#context, options)
  }

  /** Firing alerts; notifies the sinks of changes. @throws {FleetError} `unavailable` */
  async alerts(): Promise<readonly Alert[]> {
    return evaluateAlerts(this.#alerts, await this.stats())
  }

  /**
   * Runs everything that is due, for a cron trigger or a timer. Never rejects: failures are in the
   * report and in the log.
   */
  tick(): Promise<TickReport> {
    return runTick(this.#context, this)
  }

  /**
   * Creates the reporter of a provider or runtime.
   * @param holder Name of who holds the sandboxes. Default: this process.
   */
  reporter(
    holder = `process:${this.#context.instanceId}`,
    options: ReporterOptions = {},
  ): FleetReporter {
    return new LedgerReporter(this.#context, holder, options)
  }

  #diagnose(record: SandboxRecord): readonly Finding[] {
    const { clock, policy } = this.#context
    return diagnose(record, { now: clock.now(), policy })
  }

  /** Drivers are asked about sandboxes of the ledger only. */
  async #resolve(id: string): Promise<{ driver: GuardedDriver; record: SandboxRecord }> {
    const record = await this.#context.store.get(id)
    if (!this.#context.rules.mayAsk(record)) throw unknownSandbox(id)
    const { drivers, rules } = this.#context
    const driver = drivers.get(record.provider)
    // In another environment its id may be that of nothing, and to ask could make it.
    const isOwn = rules.hasOwnLabel(record.environment, ruleContext(this.#context))
    if (driver === undefined || !isOwn) throw noDriver(id)
    return { driver, record }
  }
}
