import { FleetError } from '@helix-agents/core/runtime'
import type { SandboxProbe } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { type FleetContext, ruleContext, targetOf } from '../fleet-context.ts'
import { applyEvent } from '../ledger/lifecycle.ts'
import { withAttempt, withLease, withUnknownProbe } from '../ledger/record-changes.ts'
import type { LeaseRecord, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { CleanupOutcome } from './cleanup-report.ts'
import { attemptMs, destroyRecorded, isGoneForGood, recordIntent } from './destroy.ts'
import type { CleanupCandidate } from './plan-cleanup.ts'
import type { SweepLease } from './sweep-lease.ts'
import { type CleanupMode, judge, type Verdict } from './verdict.ts'

export interface PassBudget {
  readonly kills: number
  readonly retries: number
  readonly probes: number
}

/** What the candidates of one pass share. */
export interface Pass {
  readonly context: FleetContext
  readonly lease: SweepLease
  readonly mode: CleanupMode
  /** What this pass may do, and has done: ends, retries, and questions about what it may end. */
  readonly budget: PassBudget
  readonly used: { kills: number; retries: number; probes: number }
}

/**
 * Ends one sandbox that was found, if it is still as it was: the ledger, the provider and the
 * rules are asked again.
 * @throws {FleetError} `lease-lost`, `unavailable`
 */
export async function endCandidate(
  candidate: CleanupCandidate,
  pass: Pass,
): Promise<CleanupOutcome> {
  const { context } = pass
  // What the budget does not allow costs neither the ledger nor the provider a call.
  if (!hasBudget(candidate.action, pass)) return 'over-budget'
  await context.clock.keepTime()
  const record = await context.store.get(candidate.record.id)
  if (!context.rules.mayAsk(record)) return 'changed'
  const verdict = judgeNow(record, pass)
  if (verdict.action !== candidate.action) return 'changed'
  const driver = context.drivers.get(record.provider)
  if (driver === undefined) return 'no-driver'
  try {
    if (verdict.action === 'retry') return await retryOwed(record, driver, pass)
    return await endJudged(record, verdict, driver, pass)
  } catch (error) {
    if (FleetError.isInstance(error) && error.code === 'conflict') return 'changed'
    throw error
  }
}

async function retryOwed(
  record: SandboxRecord,
  driver: GuardedDriver,
  pass: Pass,
): Promise<CleanupOutcome> {
  const { context, lease } = pass
  if (!hasBudget('retry', pass)) return 'over-budget'
  pass.used.retries += 1
  const fence = await lease.keep()
  const at = context.clock.now()
  const next = withAttempt(record, { at, nextAttemptAt: at + attemptMs(context) })
  await context.store.update(next, { fence })
  return destroyRecorded(context, next, driver)
}

const ENDED: readonly CleanupOutcome[] = ['destroyed', 'owed']

/** Reserves a place in the budget before the provider is asked, and releases it if nothing ends. */
async function endJudged(
  record: SandboxRecord,
  verdict: Verdict & { readonly action: 'destroy' },
  driver: GuardedDriver,
  pass: Pass,
): Promise<CleanupOutcome> {
  if (!hasBudget('destroy', pass)) return 'over-budget'
  pass.used.kills += 1
  pass.used.probes += 1
  let outcome: CleanupOutcome | undefined
  try {
    outcome = await endReserved(record, verdict, driver, pass)
    return outcome
  } finally {
    if (outcome === undefined || !ENDED.includes(outcome)) pass.used.kills -= 1
  }
}

async function endReserved(
  record: SandboxRecord,
  verdict: Verdict & { readonly action: 'destroy' },
  driver: GuardedDriver,
  pass: Pass,
): Promise<CleanupOutcome> {
  const { context, lease, mode } = pass
  const probe = await driver.inspect(targetOf(record))
  // A clock that has leapt since judged wrongly.
  await context.clock.keepTime()
  const rejection = await rejectionOf(record, probe, { verdict, mode, context })
  if (rejection !== undefined) return rejection
  if (judgeNow(record, pass).action !== 'destroy') return 'changed'
  const fence = await lease.keep()
  const kill = { reason: verdict.reason, detail: verdict.detail, by: `sweep:${mode}` }
  const next = await recordIntent(context, record, kill, fence)
  return destroyRecorded(context, next, driver)
}

function hasBudget(action: CleanupCandidate['action'], { budget, context, used }: Pass): boolean {
  const { rules } = context
  if (action === 'retry') {
    return rules.isWithinBudget({ allowed: budget.retries, used: used.retries })
  }
  const hasProbes = used.probes < budget.probes
  return hasProbes && rules.isWithinBudget({ allowed: budget.kills, used: used.kills })
}

function judgeNow(record: SandboxRecord, { context, mode }: Pass): Verdict {
  return judge(record, { ...ruleContext(context), rules: context.rules, mode })
}

interface RejectionParts {
  readonly verdict: Verdict & { readonly action: 'destroy' }
  readonly mode: CleanupMode
  readonly context: FleetContext
}

/** From its last use on: a lost report does not make it stay for longer. */
function detachedLease(record: SandboxRecord, { policy }: FleetContext): LeaseRecord {
  const until = record.lastActivityAt + policy.detachedRetentionMs
  return { kind: 'detached', holder: record.lease?.holder ?? 'its session', until }
}

/** What the provider says against it. */
async function rejectionOf(
  record: SandboxRecord,
  probe: SandboxProbe,
  { verdict, mode, context }: RejectionParts,
): Promise<CleanupOutcome | undefined> {
  const { clock, rules, store } = context
  if (!rules.isKnown(probe)) {
    await store.update(withUnknownProbe(record))
    return 'unknown'
  }
  if (isGoneForGood(context, record, probe)) {
    const event = { type: 'vanish', detail: `found ${probe.state} (${verdict.reason})` } as const
    const next = applyEvent(record, event, clock.now())
    await store.update(next)
    context.emit('vanished', next)
    return 'vanished'
  }
  const isForced = mode === 'emergency' || verdict.reason === 'deadline'
  if (!isForced && probe.isDetached === true && record.lease?.kind !== 'detached') {
    // The report of it was lost: it waits for its session as long as any other.
    await store.update(withLease(record, detachedLease(record, context)))
    return 'owner-alive'
  }
  return isForced || rules.isAbandoned(probe) ? undefined : 'owner-alive'
}
