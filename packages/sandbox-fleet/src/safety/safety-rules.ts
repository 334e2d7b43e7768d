import type { SandboxListing, SandboxProbe } from '../driver/fleet-driver.ts'
import { isSandboxId } from '../ledger/record-schema.ts'
import type { SandboxKill, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetPolicy } from './fleet-policy.ts'

/** What a rule depends on beside its subject. */
export interface RuleContext {
  readonly now: number
  /** Label of the deployment that the rules protect. */
  readonly environment: string
  readonly policy: FleetPolicy
  /** Whether the lease of a record may be judged by this clock, see `LeaseWatch`. */
  readonly isProven: (record: SandboxRecord) => boolean
}

/** How many sandboxes a pass may end, and how many it has reserved. */
export interface KillBudget {
  readonly allowed: number
  readonly used: number
}

/**
 * The safety rules of the fleet: each in one place, called by name wherever it applies, and each
 * with a test that fails without it. All are pure.
 */
export const safetyRules = {
  /** A sandbox is left alone until the grace period after its creation is over. */
  isPastGrace: (createdAt: number, { now, policy }: RuleContext): boolean =>
    now - createdAt >= policy.graceMs,

  /** Only sandboxes with the label of this deployment are ended. */
  hasOwnLabel: (environment: string | undefined, context: RuleContext): boolean =>
    environment !== undefined && environment !== '' && environment === context.environment,

  /** A valid lease protects its sandbox; clocks may differ. */
  isUnleased: ({ lease }: SandboxRecord, { now, policy }: RuleContext): boolean =>
    lease === undefined || lease.until + policy.clockSkewMs <= now,

  /**
   * An owner lease that has expired by this clock may just have been renewed by an owner with
   * another clock: it counts until its owner is proven silent.
   */
  isSilent: (record: SandboxRecord, { isProven, now }: RuleContext): boolean => {
    const { lease } = record
    return lease?.kind !== 'owner' || lease.until > now || isProven(record)
  },

  /** A run that holds a sandbox for longer than `maxHoldMs` loses it, unless it is critical. */
  isHeldTooLong: ({ critical, holdDeadlineAt }: SandboxRecord, { now }: RuleContext): boolean =>
    !critical && holdDeadlineAt !== undefined && holdDeadlineAt <= now,

  /** A recently used sandbox is left alone. */
  isIdle: ({ lastActivityAt }: SandboxRecord, idleMs: number, { now }: RuleContext): boolean =>
    now - lastActivityAt >= idleMs,

  /** A listing that may be partial changes nothing. */
  isWhole: ({ isComplete }: SandboxListing): boolean => isComplete,

  /** A sandbox in an unknown state is neither gone nor dead: it is left as it is. */
  isKnown: ({ state }: SandboxProbe): boolean => state !== 'unknown',

  /** A sandbox whose owner is seen alive is left alone. */
  isAbandoned: ({ ownerAlive }: Pick<SandboxProbe, 'ownerAlive'>): boolean => ownerAlive !== true,

  /**
   * A sandbox without a record is ended at once only if its provider sees that its owner is dead.
   * Where that is not known it is adopted, and ended when it stays unused.
   */
  isSeenAbandoned: ({ ownerAlive }: Pick<SandboxProbe, 'ownerAlive'>): boolean =>
    ownerAlive === false,

  /** Only this counts as destroyed; a destroy that did not fail does not. */
  isConfirmedGone: ({ state }: SandboxProbe): boolean => state === 'absent' || state === 'stopped',

  /** A sandbox that is being created may still arrive: absent does not mean gone. */
  mayStillArrive: ({ provisionDeadlineAt = 0 }: SandboxRecord, context: RuleContext): boolean =>
    provisionDeadlineAt + context.policy.clockSkewMs > context.now,

  /** Drivers are asked about sandboxes of the ledger only, since asking may create one. */
  mayAsk: (record: SandboxRecord | undefined): record is SandboxRecord => record !== undefined,

  /** What is gone is not destroyed again, and a destroy under way is not run twice. */
  isDestroyDue: ({ status, owed }: SandboxRecord, { now }: RuleContext): boolean =>
    status === 'terminating' && (owed === undefined || owed.nextAttemptAt <= now),

  /** A pass has a kill budget. */
  isWithinBudget: ({ allowed, used }: KillBudget): boolean => used < allowed,

  /** Every kill has a reason. */
  hasReason: ({ reason, detail, by }: Omit<SandboxKill, 'at'>): boolean =>
    [reason, detail, by].every((text) => text.trim() !== ''),

  /** Listed entries with an invalid id are skipped. */
  hasValidId: (id: unknown): boolean => isSandboxId(id),
} as const

/** The rules of a fleet; tests leave one out. */
export type SafetyRules = Readonly<typeof safetyRules>
