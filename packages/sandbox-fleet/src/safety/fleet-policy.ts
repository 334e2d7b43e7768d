import { FleetError } from '@helix-agents/core/runtime'
import * as z from 'zod'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Lower limit of `graceMs`, in milliseconds: a sweep never ends a younger sandbox. */
export const MIN_GRACE_MS = MINUTE_MS

const msSchema = z.number().positive().finite()
const countSchema = z.int().positive()

/** Schema of the policy of a fleet, with its defaults. Times are in milliseconds. */
export const fleetPolicySchema = z.strictObject({
  /**
   * Time after its creation during which a sandbox is never ended. Must cover the slowest
   * creation.
   */
  graceMs: z
    .number()
    .min(MIN_GRACE_MS)
    .finite()
    .default(2 * MINUTE_MS),
  /** Age at which a running sandbox gets a warning. */
  warnAfterMs: msSchema.default(5 * MINUTE_MS),
  /** Time without activity and without holder after which a sandbox is stuck and cleaned up. */
  stuckAfterMs: msSchema.default(10 * MINUTE_MS),
  /** Longest time to start. */
  provisionTimeoutMs: msSchema.default(2 * MINUTE_MS),
  /** Longest life of a sandbox, in use or not. Fixed when it is created. Default: none. */
  maxLifetimeMs: msSchema.optional(),
  /**
   * Longest time for which a run may hold a sandbox without releasing it; `critical` ones are
   * exempt. The session is warned first; then a cleanup ends the sandbox, in use or not.
   */
  maxHoldMs: msSchema.default(4 * HOUR_MS),
  /** How long before the end of a hold its session is warned. */
  holdWarningMs: msSchema.default(15 * MINUTE_MS),
  /** Lease of a run on its sandbox. A holder that does not renew it is considered dead. */
  ownerLeaseMs: msSchema.default(2 * MINUTE_MS),
  /**
   * For ledgers without a clock: how long a sweeper must see an expired owner lease unchanged
   * before it trusts its own clock. Default: `ownerLeaseMs`. 0 trusts the clocks at once, for one-
   * shot scripts.
   */
  leaseProofMs: z.number().nonnegative().finite().optional(),
  /** How long a detached sandbox waits for its session. */
  detachedRetentionMs: msSchema.default(7 * DAY_MS),
  /** How long a sandbox waits in a pool for its next use. */
  poolRetentionMs: msSchema.default(5 * MINUTE_MS),
  /** Largest difference between two clocks. */
  clockSkewMs: z.number().nonnegative().finite().default(10_000),
  /** Capacity: sandboxes that may exist at once; detached ones do not count. */
  maxConcurrentSandboxes: countSchema.default(10),
  /** Used share of the capacity from which idle sandboxes without holder are ended sooner. */
  pressureRatio: z.number().positive().max(1).default(0.8),
  /** Idle time after which such a sandbox is ended under pressure. */
  pressureIdleMs: msSchema.default(MINUTE_MS),
  /**
   * Sandboxes that one pass may end. A pass that finds more than ten times as many may end a tenth
   * of them.
   */
  maxKillsPerPass: countSchema.default(10),
  /** Upper limit of that tenth. */
  maxBacklogKillsPerPass: countSchema.default(100),
  /** Sandboxes that one emergency cleanup may end. */
  maxEmergencyKills: countSchema.default(100),
  /** Owed destroys that one pass retries. */
  maxRetriesPerPass: countSchema.default(20),
  /** Records that one pass examines. */
  maxExaminedPerPass: countSchema.default(1000),
  /** Destroys that run in parallel. */
  concurrency: countSchema.default(4),
  /** Longest duration of one pass. */
  passTimeoutMs: msSchema.default(4 * MINUTE_MS),
  /** Lease of a sweeper. Another one takes over when it is not renewed. */
  sweepLeaseMs: msSchema.default(2 * MINUTE_MS),
  /** Interval between two cleanups. */
  sweepIntervalMs: msSchema.default(5 * MINUTE_MS),
  /** Interval between two reconciliations. */
  reconcileIntervalMs: msSchema.default(HOUR_MS),
  /** Timeout of one read from a provider: `inspect`, `list`, `logs`, `resources`. */
  callTimeoutMs: msSchema.default(10_000),
  /** Timeout of one destroy. */
  terminateTimeoutMs: msSchema.default(30_000),
  /** Retries of a failed read. A destroy is not retried in place: it stays owed. */
  callRetries: z.int().nonnegative().default(1),
  /** Consecutive failures after which the circuit breaker of a provider opens. */
  breakerFailures: countSchema.default(5),
  /** Circuit breaker cooldown. */
  breakerCooldownMs: msSchema.default(30_000),
  /** Backoff before the first retry of an owed destroy; doubles with each attempt. */
  destroyRetryMs: msSchema.default(5_000),
  /** Maximum backoff between destroy retries. */
  destroyRetryMaxMs: msSchema.default(5 * MINUTE_MS),
  /** Timeout of one operation in a sandbox. */
  operationTimeoutMs: msSchema.default(5 * MINUTE_MS),
  /** Consecutive timeouts that make a finding. */
  repeatedTimeouts: countSchema.default(3),
  /** How long the record of a terminated sandbox is kept. */
  tombstoneMs: msSchema.default(30 * DAY_MS),
})

/** Policy values that differ from the defaults. Times are in milliseconds. */
export type FleetPolicyInput = z.input<typeof fleetPolicySchema>

/** The policy of a fleet with every value set. Times are in milliseconds. */
export type FleetPolicy = Readonly<z.output<typeof fleetPolicySchema>>

/**
 * Fills in the defaults of a policy.
 * @throws {FleetError} `config-invalid`, naming each invalid field.
 */
export function parseFleetPolicy(input: FleetPolicyInput = {}): FleetPolicy {
  const result = fleetPolicySchema.safeParse(input)
  if (result.success) return result.data
  const fields = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new FleetError('config-invalid', `the policy of the fleet: ${fields.join('; ')}`)
}
