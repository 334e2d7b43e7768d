import type { SandboxListing, SandboxProbe } from '../driver/fleet-driver.ts'
import { isSandboxId } from '../ledger/record-schema.ts'
import type { SandboxKill, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetPolicy } from './fleet-policy.ts'

/** What a rule may look at. */
export interface RuleContext {
  readonly now: number
  /** The deployment that wants to end something. */
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
 * The safety rules of the fleet: each in one place, asked by name wherever it applies, and each
 * with a test that fails without it. All are pure.
 */
export interface SafetyRules {
  /** A sandbox is left alone until the longest time a provider may take has passed. */
  isPastGrace(createdAt: number, context: RuleContext): boolean
  /** Only sandboxes that carry the label of this deployment are ended. */
  hasOwnLabel(environment: string | undefined, context: RuleContext): boolean
  /** A lease that runs keeps its sandbox; clocks may differ. */
  isUnleased(record: SandboxRecord, context: RuleContext): boolean
  /**
   * A lease that ran out by this clock may just have been renewed by an owner with another one: it
   * counts until its owner is seen to be silent.
   */
  isSilent(record: SandboxRecord, context: RuleContext): boolean
  /** A run that holds a sandbox for longer than it may loses it, unless it is critical. */
  isHeldTooLong(record: SandboxRecord, context: RuleContext): boolean
  /** A sandbox in which something was done lately is left alone. */
  isIdle(record: SandboxRecord, idleMs: number, context: RuleContext): boolean
  /** Nothing is concluded from a list that may miss some. */
  isWhole(listing: SandboxListing): boolean
  /** What cannot be told is neither gone nor dead: it is left as it is. */
  isKnown(probe: SandboxProbe): boolean
  /** A sandbox whose owner is seen running is left alone. */
  isAbandoned(probe: Pick<SandboxProbe, 'ownerAlive'>): boolean
  /**
   * What the ledger never heard of is ended at once only if its provider sees that its owner does
   * not run. Where that cannot be told, it is adopted and ended when it stays unused.
   */
  isSeenAbandoned(probe: Pick<SandboxProbe, 'ownerAlive'>): boolean
  /** Only this counts as destroyed; that a destroy did not fail does not. */
  isConfirmedGone(probe: SandboxProbe): boolean
  /** What is being made may still arrive: that it is not there yet does not mean that it is gone. */
  mayStillArrive(record: SandboxRecord, context: RuleContext): boolean
  /** Providers are asked about sandboxes of the ledger only, since asking may make one. */
  mayAsk(record: SandboxRecord | undefined): record is SandboxRecord
  /** What is gone is not destroyed again, and what is being destroyed not by two at once. */
  isDestroyDue(record: SandboxRecord, context: RuleContext): boolean
  /** A pass ends so many and no more. */
  isWithinBudget(budget: KillBudget): boolean
  /** Whoever ends a sandbox says why. */
  hasReason(kill: Omit<SandboxKill, 'at'>): boolean
  /** Entries of a list whose id cannot be one are skipped. */
  hasValidId(id: unknown): boolean
}

/** The rules as they are. */
export const safetyRules: SafetyRules = {
  isPastGrace: (createdAt, { now, policy }) => now - createdAt >= policy.graceMs,

  hasOwnLabel: (environment, context) =>
    environment !== undefined && environment !== '' && environment === context.environment,

  isUnleased: ({ lease }, { now, policy }) =>
    lease === undefined || lease.until + policy.clockSkewMs <= now,

  isSilent: (record, { isProven, now }) => {
    const { lease } = record
    return lease?.kind !== 'owner' || lease.until > now || isProven(record)
  },

  isHeldTooLong: ({ critical, holdDeadlineAt }, { now }) =>
    !critical && holdDeadlineAt !== undefined && holdDeadlineAt <= now,

  isIdle: ({ lastActivityAt }, idleMs, { now }) => now - lastActivityAt >= idleMs,

  isWhole: ({ isComplete }) => isComplete,

  isKnown: ({ state }) => state !== 'unknown',

  isAbandoned: ({ ownerAlive }) => ownerAlive !== true,

  isSeenAbandoned: ({ ownerAlive }) => ownerAlive === false,

  isConfirmedGone: ({ state }) => state === 'absent' || state === 'stopped',

  mayStillArrive: ({ provisionDeadlineAt = 0 }, { now, policy }) =>
    provisionDeadlineAt + policy.clockSkewMs > now,

  mayAsk: (record): record is SandboxRecord => record !== undefined,

  isDestroyDue: ({ status, owed }, { now }) =>
    status === 'terminating' && (owed === undefined || owed.nextAttemptAt <= now),

  isWithinBudget: ({ allowed, used }) => used < allowed,

  hasReason: ({ reason, detail, by }) => [reason, detail, by].every((text) => text.trim() !== ''),

  hasValidId: (id) => isSandboxId(id),
}
