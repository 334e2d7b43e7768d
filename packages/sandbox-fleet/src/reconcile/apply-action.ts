import { FleetError } from '@helix-agents/core'
import type { ListedSandbox, SandboxProbe } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { type FleetContext, ruleContext, targetOf } from '../fleet-context.ts'
import { applyEvent, createRecord } from '../ledger/lifecycle.ts'
import { parseNewSandbox } from '../ledger/record-schema.ts'
import type { SandboxClaim, SandboxRecord } from '../ledger/sandbox-record.ts'
import { attemptMs, destroyRecorded, isGoneForGood, recordIntent } from '../sweep/destroy.ts'
import type { SweepLease } from '../sweep/sweep-lease.ts'
import type { ReconcileAction, ReconcileOutcome } from './reconcile-report.ts'

/** What the actions of one pass share. */
export interface ReconcilePass {
  readonly context: FleetContext
  readonly lease: SweepLease
  taken: number
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
  // Looks take time as well.
  await pass.lease.keep()
  try {
    const record = await context.store.get(action.id)
    if (action.kind === 'end-orphan') {
      return record === undefined ? await endOrphan(action, driver, pass) : 'changed'
    }
    if (!context.rules.mayAsk(record) || record.status !== action.status) return 'changed'
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
  // A stopped one that somebody holds may be used again.
  const isHeld = probe.state === 'stopped' && !rules.isUnclaimed(record, ruleContext(context))
  if (isHeld || !isGoneForGood(context, record, probe)) return 'present'
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
  const { clock, environment, rules, store } = context
  await clock.keepTime()
  const { id, listed = { id }, provider } = action
  const rule = ruleContext(context)
  if (!rules.hasOwnLabel(listed.environment, rule)) return 'spared'
  const createdAt = listed.createdAt ?? rule.now
  const claim = waitsForSession(listed, context)
  const isAbandoned = claim === undefined && rules.isAbandoned(listed)
  const mayEnd = rules.isPastGrace(createdAt, rule) && isAbandoned
  // What is young or in use is only made known: from now on it is watched like all others.
  if (mayEnd && !take(pass)) return 'over-budget'
  await pass.lease.keep()
  const labels = { id, provider, environment, createdAt, ...(claim !== undefined && { claim }) }
  const known = createRecord(parseNewSandbox(labels))
  await store.create({ ...known, lastActivityAt: rule.now })
  const started = applyEvent(known, { type: 'started' }, clock.now())
  await store.update(started)
  if (!mayEnd) return 'adopted'
  const kill = {
    reason: 'orphan',
    detail: 'its provider has it and the ledger never heard of it',
    by: 'reconcile',
  } as const
  const intended = await recordIntent(context, started, kill, await pass.lease.keep())
  return destroyRecorded(context, intended, driver)
}

async function destroyAgain(
  record: SandboxRecord,
  action: ReconcileAction,
  driver: GuardedDriver,
  pass: ReconcilePass,
): Promise<ReconcileOutcome> {
  const { context } = pass
  const { clock, store } = context
  const listed = action.listed ?? { id: record.id }
  if (!mayReturnTo(record, listed, context)) return 'spared'
  const refusal = refuse(await driver.inspect(targetOf(record)), context)
  if (refusal !== undefined) return refusal
  if (!take(pass)) return 'over-budget'
  const fence = await pass.lease.keep()
  const now = clock.now()
  const kill = {
    reason: 'reappeared',
    detail: 'the ledger had it as gone, and its provider still has it',
    by: 'reconcile',
  } as const
  const retryAt = now + attemptMs(context)
  const next = applyEvent(record, { type: 'reappear', kill, retryAt }, now)
  await store.update(next, { fence })
  context.emit('kill', next)
  return destroyRecorded(context, next, driver)
}

/** A list may lag behind, and what was made just now may be about to be recorded. */
function mayReturnTo(record: SandboxRecord, listed: ListedSandbox, context: FleetContext): boolean {
  const { rules } = context
  const rule = ruleContext(context)
  const since = Math.max(record.statusSince, listed.createdAt ?? 0)
  const isOurs = rules.hasOwnLabel(record.environment, rule)
  if (waitsForSession(listed, context) !== undefined) return false
  return isOurs && rules.isPastGrace(since, rule) && rules.isAbandoned(listed)
}

/** The claim of a session that may go on, while its time is not over. */
function waitsForSession(
  { createdAt, isDetached }: ListedSandbox,
  { clock, policy }: FleetContext,
): SandboxClaim | undefined {
  const until = (createdAt ?? clock.now()) + policy.detachedRetentionMs
  if (isDetached !== true || until <= clock.now()) return undefined
  return { kind: 'detached', holder: 'its session', until }
}

/** What the provider says against a destroy. */
function refuse(probe: SandboxProbe, { rules }: FleetContext): ReconcileOutcome | undefined {
  if (!rules.isKnown(probe)) return 'unknown'
  if (rules.isConfirmedGone(probe)) return 'changed'
  return rules.isAbandoned(probe) ? undefined : 'spared'
}

function take(pass: ReconcilePass): boolean {
  const { policy, rules } = pass.context
  if (!rules.isWithinBudget({ allowed: policy.maxKillsPerPass, taken: pass.taken })) return false
  pass.taken += 1
  return true
}
