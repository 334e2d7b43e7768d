import type { JsonValue } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import * as z from 'zod'
import type { FleetPolicy } from '../safety/fleet-policy.ts'

/**
 * `sandbox_timeout_high`: too many operations time out. `sandbox_leak_detected`: too many
 * sandboxes are active. `sandbox_cleanup_not_running`: no pass has ended for a while.
 * `sandbox_destroy_owed`: sandboxes that should be gone are not.
 */
export type AlertName =
  | 'sandbox_timeout_high'
  | 'sandbox_leak_detected'
  | 'sandbox_cleanup_not_running'
  | 'sandbox_destroy_owed'

/** An alert that has fired, escalated or resolved. */
export interface Alert {
  readonly name: AlertName
  readonly severity: 'warning' | 'critical'
  readonly state: 'firing' | 'resolved'
  readonly environment: string
  /** The measured value and the limit that it exceeded. */
  readonly value: number
  /** The limit that was exceeded. */
  readonly threshold: number
  readonly message: string
  /** True when people should be paged: it has been severe for `escalateAfterMs`. */
  readonly escalate: boolean
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Time of the evaluation; milliseconds since the epoch. */
  readonly at: number
}

/** A destination of alerts. Its errors are logged and do not affect other sinks. */
export interface AlertSink {
  /** Delivers one alert. Abandoned after 60 s. */
  send(alert: Alert): void | Promise<void>
}

const msSchema = z.number().nonnegative().finite()

/** Schema of the limits of alerts, with their defaults. Between the two limits of an alert its state is kept. */
export const alertPolicySchema = z.strictObject({
  /** Share of operations that time out, above which `sandbox_timeout_high` fires. */
  timeoutRatio: z.number().min(0).max(1).default(0.05),
  /** Share below which it resolves. Default: 0.02, or `timeoutRatio` if that is less. */
  timeoutRatioClear: z.number().min(0).max(1).default(0.02),
  /** Window in which operations are counted. */
  timeoutWindowMs: msSchema.default(15 * 60_000),
  /**
   * Fewest operations in the window for which the share is judged. Default: 20, or what the
   * capacity can execute when each operation times out, if that is less.
   */
  timeoutMinExecutions: z.int().positive().default(20),
  /**
   * Active sandboxes above which `sandbox_leak_detected` fires. Default: 20, or one less than
   * `maxConcurrentSandboxes` if that is less; `maxConcurrentSandboxes` itself where that is below
   * 5.
   */
  leakActive: z.int().nonnegative().default(20),
  /**
   * Active sandboxes at or below which it resolves. Default: 15, or three quarters of `leakActive`
   * if that is less; `leakActive` itself where the capacity is below 5.
   */
  leakActiveClear: z.int().nonnegative().default(15),
  /**
   * Active sandboxes above which it escalates. Default: 50, or one less than
   * `maxConcurrentSandboxes` if that is less, and never below `leakActive`.
   */
  escalateActive: z.int().nonnegative().default(50),
  /** How long it must fire above `escalateActive` before it escalates. */
  escalateAfterMs: msSchema.default(30 * 60_000),
  /** Missed cleanups after which `sandbox_cleanup_not_running` fires. */
  missedPasses: z.int().positive().default(3),
  /** Owed destroys above which `sandbox_destroy_owed` fires. */
  owedDestroys: z.int().nonnegative().default(3),
  /** How long a limit must be exceeded before an alert fires. */
  forMs: msSchema.default(5 * 60_000),
  /** How long the clear limit must be met before an alert resolves. */
  clearForMs: msSchema.default(5 * 60_000),
})

/** Limits of alerts that differ from the defaults. Times are in milliseconds. */
export type AlertPolicyInput = z.input<typeof alertPolicySchema>
/** The limits of all alerts with every value set. Times are in milliseconds. */
export type AlertPolicy = Readonly<z.output<typeof alertPolicySchema>>

/** Policy values from which the defaults of alerts are derived. */
export type CapacityPolicy = Pick<
  FleetPolicy,
  'maxConcurrentSandboxes' | 'operationTimeoutMs' | 'terminateTimeoutMs'
>

/** A smaller fleet is full whenever it is used: full capacity is no signal. */
const MIN_LEAK_CAPACITY = 5

/**
 * Numbers that are not given follow from those that are, and from the capacity: a fleet whose
 * places are all taken alerts, except where that is its normal state.
 * @throws {FleetError} `config-invalid`, naming each field.
 */
export function parseAlertPolicy(input: AlertPolicyInput, fleet: CapacityPolicy): AlertPolicy {
  const { maxConcurrentSandboxes } = fleet
  const result = alertPolicySchema.safeParse(input)
  if (!result.success) throw unusable(result.error)
  const defaults = result.data
  const isSmall = maxConcurrentSandboxes < MIN_LEAK_CAPACITY
  const mostUsual = isSmall ? maxConcurrentSandboxes : maxConcurrentSandboxes - 1
  const leakActive = input.leakActive ?? Math.min(defaults.leakActive, mostUsual)
  const leastHigh = isSmall ? leakActive : Math.floor(leakActive * 0.75)
  const policy: AlertPolicy = {
    ...defaults,
    timeoutMinExecutions: input.timeoutMinExecutions ?? minExecutions(defaults, fleet),
    timeoutRatioClear:
      input.timeoutRatioClear ?? Math.min(defaults.timeoutRatioClear, defaults.timeoutRatio),
    leakActive,
    leakActiveClear: input.leakActiveClear ?? Math.min(defaults.leakActiveClear, leastHigh),
    escalateActive:
      input.escalateActive ?? Math.max(leakActive, Math.min(defaults.escalateActive, mostUsual)),
  }
  assertOrdered(policy, 'leakActiveClear', 'leakActive')
  assertOrdered(policy, 'timeoutRatioClear', 'timeoutRatio')
  return policy
}

/** A place whose operations all time out ends few of them in the window: these must suffice. */
function minExecutions(
  { timeoutMinExecutions, timeoutWindowMs }: AlertPolicy,
  { maxConcurrentSandboxes, operationTimeoutMs, terminateTimeoutMs }: CapacityPolicy,
): number {
  const perPlace = Math.floor(timeoutWindowMs / (operationTimeoutMs + terminateTimeoutMs))
  return Math.min(timeoutMinExecutions, maxConcurrentSandboxes * Math.max(1, perPlace))
}

/** An alert that ends above where it begins would do both at once. */
function assertOrdered(
  policy: AlertPolicy,
  end: 'leakActiveClear' | 'timeoutRatioClear',
  begin: 'leakActive' | 'timeoutRatio',
): void {
  if (policy[end] <= policy[begin]) return
  throw new FleetError('config-invalid', `the alerts of the fleet: ${end} is above ${begin}`)
}

function unusable(error: z.ZodError): FleetError {
  const fields = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new FleetError('config-invalid', `the alerts of the fleet: ${fields.join('; ')}`)
}

const storedSchema = z.object({
  isFiring: z.boolean(),
  since: z.number().exactOptional(),
  pendingSince: z.number().exactOptional(),
  clearSince: z.number().exactOptional(),
  isEscalated: z.boolean().exactOptional(),
})

/** State of an alert between two evaluations. */
export type AlertState = Readonly<z.output<typeof storedSchema>>

const statesSchema = z.record(z.string(), storedSchema)

/** The states of the last evaluation; empty when they cannot be read. */
export function parseAlertStates(
  value: JsonValue | undefined,
): Readonly<Record<string, AlertState>> {
  const result = statesSchema.safeParse(value)
  return result.success ? result.data : {}
}
