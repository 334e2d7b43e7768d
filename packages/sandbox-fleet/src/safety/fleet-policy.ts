import { FleetError } from '@helix-agents/core/runtime'
import * as z from 'zod'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Nothing younger than this is ever ended by a sweep. */
export const LEAST_GRACE_MS = MINUTE_MS

const msSchema = z.number().positive().finite()
const countSchema = z.int().positive()

/** Every number of the fleet with its default. Times are in milliseconds. */
export const fleetPolicySchema = z.strictObject({
  /** Time after its making in which a sandbox is never ended: the longest a provider may take. */
  graceMs: z
    .number()
    .min(LEAST_GRACE_MS)
    .finite()
    .default(2 * MINUTE_MS),
  /** A sandbox that runs for longer is worth a warning. */
  warnAfterMs: msSchema.default(5 * MINUTE_MS),
  /** A sandbox without activity and without holder for longer is stuck, and cleaned up. */
  stuckAfterMs: msSchema.default(10 * MINUTE_MS),
  /** Time to start. */
  provisionTimeoutMs: msSchema.default(2 * MINUTE_MS),
  /** Longest life of a sandbox, also of one in use. Fixed when it is made. Default: none. */
  maxLifetimeMs: msSchema.optional(),
  /**
   * Longest time for which a run may hold a sandbox without letting go of it, one with `critical`
   * excepted. The session is warned before; then a cleanup ends the sandbox, in use or not.
   */
  maxHoldMs: msSchema.default(4 * HOUR_MS),
  /** How long before the end of a hold its session is warned. */
  holdWarningMs: msSchema.default(15 * MINUTE_MS),
  /** A holder that does not renew its claim for so long is taken for dead. */
  ownerLeaseMs: msSchema.default(2 * MINUTE_MS),
  /**
   * Where the ledger has no clock: how long a sweeper must see an owner's claim unchanged that ran
   * out by its own clock before it believes so. Default: `ownerLeaseMs`. 0: the clocks are right,
   * for one-shot scripts.
   */
  claimProofMs: z.number().nonnegative().finite().optional(),
  /** How long a detached sandbox waits for its session. */
  detachedRetentionMs: msSchema.default(7 * DAY_MS),
  /** How long a sandbox waits in the pool to be used again. */
  poolRetentionMs: msSchema.default(5 * MINUTE_MS),
  /** Clocks may differ by so much. */
  clockSkewMs: z.number().nonnegative().finite().default(10_000),
  /** Sandboxes that may take up room at once. */
  maxConcurrentSandboxes: countSchema.default(10),
  /** From this share of it on, sandboxes without holder are ended sooner. */
  pressureRatio: z.number().positive().max(1).default(0.8),
  /** How long one must have been idle then. */
  pressureIdleMs: msSchema.default(MINUTE_MS),
  /** Sandboxes that one pass may end, unless it finds more than ten times as many. */
  maxKillsPerPass: countSchema.default(10),
  /** Of a backlog a pass ends a tenth, and at most so many. */
  maxBacklogKillsPerPass: countSchema.default(100),
  /** The same in an emergency. */
  maxEmergencyKills: countSchema.default(100),
  /** Destroys still owed that one pass tries again. */
  maxRetriesPerPass: countSchema.default(20),
  /** Records that one pass looks at. */
  maxExaminedPerPass: countSchema.default(1000),
  /** Destroys at once. */
  concurrency: countSchema.default(4),
  /** Time of one pass. */
  passTimeoutMs: msSchema.default(4 * MINUTE_MS),
  /** How long a sweeper is the only one without a sign of life. */
  sweepLeaseMs: msSchema.default(2 * MINUTE_MS),
  /** Between two passes. */
  sweepIntervalMs: msSchema.default(5 * MINUTE_MS),
  /** Between two comparisons with what the providers have. */
  reconcileIntervalMs: msSchema.default(HOUR_MS),
  /** Time of one look at a provider. */
  callTimeoutMs: msSchema.default(10_000),
  /** Time of one destroy. */
  terminateTimeoutMs: msSchema.default(30_000),
  /** Retries of a look. */
  callRetries: z.int().nonnegative().default(1),
  /** Failures in a row after which a provider is left alone, */
  breakerFailures: countSchema.default(5),
  /** and for how long. */
  breakerRestMs: msSchema.default(30_000),
  /** Time before an owed destroy is tried again: the first time, */
  destroyRetryMs: msSchema.default(5_000),
  /** and at most. */
  destroyRetryMaxMs: msSchema.default(5 * MINUTE_MS),
  /** Time of one operation in a sandbox. */
  operationTimeoutMs: msSchema.default(5 * MINUTE_MS),
  /** Timeouts in a row that are worth a finding. */
  repeatedTimeouts: countSchema.default(3),
  /** How long the record of what is gone is kept. */
  tombstoneMs: msSchema.default(30 * DAY_MS),
})

/** Numbers to change; all have defaults. */
export type FleetPolicyInput = z.input<typeof fleetPolicySchema>

/** Every number of the fleet. */
export type FleetPolicy = Readonly<z.output<typeof fleetPolicySchema>>

/** @throws {FleetError} `config-invalid`, naming each field. */
export function parseFleetPolicy(input: FleetPolicyInput = {}): FleetPolicy {
  const result = fleetPolicySchema.safeParse(input)
  if (result.success) return result.data
  const fields = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new FleetError('config-invalid', `the policy of the fleet: ${fields.join('; ')}`)
}
