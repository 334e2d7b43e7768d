import { FleetError } from '@helix-agents/core/runtime'
import type { ListedSandbox, SandboxProbe } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { type FleetContext, ruleContext, targetOf } from '../fleet-context.ts'
import { applyEvent, createRecord } from '../ledger/lifecycle.ts'
import { withLease } from '../ledger/record-changes.ts'
import { parseNewSandbox } from '../ledger/record-schema.ts'
import type { LeaseRecord, SandboxRecord } from '../ledger/sandbox-record.ts'
import { attemptMs, destroyRecorded, isGoneForGood, recordIntent } from '../sweep/destroy.ts'
import type { SweepLease } from '../sweep/sweep-lease.ts'
import type { ReconcileAction, ReconcileOutcome } from './reconcile-report.ts'

/** What the actions of one pass share. */
export interface ReconcilePass {
  readonly context: FleetContext
  readonly lease: SweepLease
  used: number
}

/**
 * Does what is still to be done about one difference: the ledger, the provider and the rules are
 * asked again.
 * @throws {FleetError} `lease-lost`, `unavailable`
 */
export async function applyAction(
  action: ReconcileAction,
  pass: ReconcilePass,
): Promise<ReconcileOutcome> {
  const { context } = pass
  const driver = context.drivers.get(action.provider)
  if (driver === undefined) return 'changed'
  // Probes take time as well.
  await pass.lease.keep()
  try {
    const record = await context.store.get(action.id)
    if (action.kind === 'end-orphan') {
      return record === undefined ? await endOrphan(action, driver, pass) : 'changed'
    }
    if (!context.rules.mayAsk(record) || record.status !== action.status) return 'changed'
    if (!context.rules.hasOwnLabel(record.environment, ruleContext(context))) return 'changed'
    if (action.kind === 'heal-record') return await heal(record, driver, pass)
    return await destroyAgain(record, action, driver, pass)
  } catch (error) {
    const outcome = outcomeOf(error)
    if (outcome === undefined) throw error
    return outcome
  }
}

/** What concerns this one alone; any other error ends the pass. */
function outcomeOf(error: unknown): 'changed' | 'unknown' | undefined {
  if (!FleetError.isInstance(error)) return undefined
  if (error.code === 'corrupt') return 'unknown'
  return error.code === 'conflict' || error.code === 'already-exists' ? 'changed' : undefined
}

async function heal(
  record: SandboxRecord,
  driver: GuardedDriver,
  { context }: ReconcilePass,
): Promise<ReconcileOutcome> {
  const { clock, rules, store } = context
  const probe = await driver.inspect(targetOf(record))
  await clock.keepTime()
  if (!rules.isKnown(probe)) return 'unknown'
  // A stopped one that has a holder may be used again.
  const rule = ruleContext(context)
  const isUnleased = rules.isUnleased(record, rule) && rules.isSilent(record, rule)
  if ((probe.state === 'stopped' && !isUnleased) || !isGoneForGood(context, record, probe))
    return 'present'
  const event = { type: 'vanish', detail: `found ${probe.state} by reconciliation` } as const
  const next = applyEvent(record, event, clock.now())
  await store.update(next)
  context.emit('vanished', next)
  return 'healed'
}

async function endOrphan(
  action: ReconcileAction,
  driver: GuardedDriver,
  pass: ReconcilePass,
): Promise<ReconcileOutcome> {
  const { context } = pass
  const { clock, rules } = context
  await clock.keepTime()
  const { id, listed = { id } } = action
  const rule = ruleContext(context)
  if (!rules.hasOwnLabel(listed.environment, rule)) return 'spared'
  const lease = waitsForSession(listed, context)
  const isAbandoned = lease === undefined && rules.isAbandoned(listed)
  const mayEnd = rules.isPastGrace(listed.createdAt ?? rule.now, rule) && isAbandoned
  // What is young or in use is only made known: from now on it is watched like all others.
  if (!mayEnd) return adopt(action, pass, lease).then(() => 'adopted')
  return withinBudget(pass, async () => {
    const adopted = await adopt(action, pass, undefined)
    // The listing is as old as the plan: an owner may have attached since, unknown to the ledger.
    const probe = await driver.inspect(targetOf(adopted))
    await clock.keepTime()
    const rejection = await rejectOrphan(adopted, probe, context)
    if (rejection !== undefined) return rejection
    const kill = {
      reason: 'orphan',
      detail: 'it has no record, and its provider sees that its owner does not run',
      by: 'reconcile',
    } as const
    const intended = await recordIntent(context, adopted, kill, await pass.lease.keep())
    return destroyRecorded(context, intended, driver)
  })
}

/**
 * Adds a listed sandbox to the ledger as running, with one write: a record that stayed
 * `provisioning` would be as old as the sandbox, and the next cleanup would end it at once.
 * @throws {FleetError} `already-exists`
 */
async function adopt(
  { id, listed = { id }, provider }: ReconcileAction,
  { context, lease }: ReconcilePass,
  waiting: LeaseRecord | undefined,
): Promise<SandboxRecord> {
  const { clock, environment, store } = context
  await lease.keep()
  const now = clock.now()
  const createdAt = Math.min(listed.createdAt ?? now, now)
  const labels = { id, provider, environment, createdAt, ...(waiting && { lease: waiting }) }
  const known = createRecord(parseNewSandbox(labels))
  return store.create(applyEvent(known, { type: 'started' }, now))
}

/** What the provider says, after the adoption, against the end of an orphan. */
async function rejectOrphan(
  record: SandboxRecord,
  probe: SandboxProbe,
  context: FleetContext,
): Promise<ReconcileOutcome | undefined> {
  const { clock, rules, store } = context
  if (!rules.isKnown(probe)) return 'unknown'
  if (isGoneForGood(context, record, probe)) {
    const event = { type: 'vanish', detail: `found ${probe.state} after its adoption` } as const
    const next = applyEvent(record, event, clock.now())
    await store.update(next)
    context.emit('vanished', next)
    return 'healed'
  }
  if (probe.isDetached === true) {
    const until = clock.now() + context.policy.detachedRetentionMs
    await store.update(withLease(record, { kind: 'detached', holder: 'its session', until }))
    return 'adopted'
  }
  return rules.isSeenAbandoned(probe) ? undefined : 'adopted'
}

async function destroyAgain(
  record: SandboxRecord,
  action: ReconcileAction,
  driver: GuardedDriver,
  pass: ReconcilePass,
): Promise<ReconcileOutcome> {
  const { context } = pass
  const listed = action.listed ?? { id: record.id }
  if (!mayReturnTo(record, listed, context)) return 'spared'
  return withinBudget(pass, async () => {
    const rejection = rejectionOf(await driver.inspect(targetOf(record)), context)
    if (rejection !== undefined) return rejection
    const fence = await pass.lease.keep()
    const now = context.clock.now()
    const kill = {
      reason: 'reappeared',
      detail: 'the ledger had it as gone, and its provider still has it',
      by: 'reconcile',
    } as const
    const retryAt = now + attemptMs(context)
    const next = applyEvent(record, { type: 'reappear', kill, retryAt }, now)
    await context.store.update(next, { fence })
    context.emit('kill', next)
    return destroyRecorded(context, next, driver)
  })
}

/** A list may lag behind, and what was made just now may be about to be recorded. */
function mayReturnTo(record: SandboxRecord, listed: ListedSandbox, context: FleetContext): boolean {
  const { rules } = context
  const rule = ruleContext(context)
  // A time that is yet to come says nothing.
  const madeAt = listed.createdAt ?? 0
  const since = madeAt > rule.now ? record.statusSince : Math.max(record.statusSince, madeAt)
  const isOurs = rules.hasOwnLabel(record.environment, rule)
  if (waitsForSession(listed, context) !== undefined) return false
  return isOurs && rules.isPastGrace(since, rule) && rules.isAbandoned(listed)
}

/** The lease of a session that may be resumed, while it has not expired. */
function waitsForSession(
  { createdAt, isDetached }: ListedSandbox,
  { clock, policy }: FleetContext,
): LeaseRecord | undefined {
  const now = clock.now()
  const until = Math.min(createdAt ?? now, now) + policy.detachedRetentionMs
  if (isDetached !== true || until <= now) return undefined
  return { kind: 'detached', holder: 'its session', until }
}

/** What the provider says against a destroy. */
function rejectionOf(probe: SandboxProbe, { rules }: FleetContext): ReconcileOutcome | undefined {
  if (!rules.isKnown(probe)) return 'unknown'
  if (rules.isConfirmedGone(probe)) return 'changed'
  return rules.isAbandoned(probe) && probe.isDetached !== true ? undefined : 'spared'
}

const ENDED: readonly ReconcileOutcome[] = ['destroyed', 'owed']

/**
 * Reserves a place in the kill budget before the provider is asked, and releases it when nothing
 * was ended.
 */
async function withinBudget(
  pass: ReconcilePass,
  work: () => Promise<ReconcileOutcome>,
): Promise<ReconcileOutcome> {
  const { policy, rules } = pass.context
  if (!rules.isWithinBudget({ allowed: policy.maxKillsPerPass, used: pass.used })) {
    return 'over-budget'
  }
  pass.used += 1
  let outcome: ReconcileOutcome | undefined
  try {
    outcome = await work()
    return outcome
  } finally {
    if (outcome === undefined || !ENDED.includes(outcome)) pass.used -= 1
  }
}
