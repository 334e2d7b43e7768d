import { FleetError } from '@helix-agents/core/runtime'
import { errorText } from '../error-text.ts'
import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { recordHeartbeat } from '../fleet-stats.ts'
import type { PassOutcome } from '../sweep/cleanup-report.ts'
import { inParallel } from '../sweep/in-parallel.ts'
import { SweepLease } from '../sweep/sweep-lease.ts'
import { applyAction, type ReconcilePass } from './apply-action.ts'
import { planReconcile, type ReconcilePlan } from './plan-reconcile.ts'
import {
  cursorsAfter,
  readCursors,
  type ReconcileCursors,
  writeCursors,
} from './reconcile-cursors.ts'
import type { ReconcileAction, ReconcileOutcome, ReconcileReport } from './reconcile-report.ts'

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** Only reports what differs. Providers are asked for their lists, nothing is changed. */
  readonly dryRun?: boolean
}

const NOTHING_FOUND: ReconcilePlan = { actions: [], rejected: [], skipped: 0, pages: [] }

interface Progress {
  readonly isDryRun: boolean
  startedAt: number
  plan: ReconcilePlan | undefined
  readonly outcomes: Map<ReconcileAction, ReconcileOutcome>
}

/** Brings the ledger and the providers together. Never rejects: what went wrong is in the report. */
export async function runReconcile(
  context: FleetContext,
  options: ReconcileOptions = {},
): Promise<ReconcileReport> {
  const progress: Progress = {
    isDryRun: options.dryRun ?? false,
    startedAt: context.clock.now(),
    plan: undefined,
    outcomes: new Map(),
  }
  context.logger.info({ dryRun: progress.isDryRun }, fleetMessages.reconcileStarted)
  try {
    await context.clock.keepTime()
    progress.startedAt = context.clock.now()
    return close(context, progress, await run(context, progress))
  } catch (err) {
    const isLost = FleetError.isInstance(err) && err.code === 'lease-lost'
    return close(context, progress, isLost ? 'lease-lost' : 'store-failed', err)
  }
}

async function run(context: FleetContext, progress: Progress): Promise<PassOutcome> {
  if (progress.isDryRun) {
    const plan = await planReconcile(context, {
      cursors: await readCursors(context),
      keepLease: nothing,
    })
    progress.plan = plan
    return hasMore(cursorsAfter(plan.pages, () => true)) ? 'more' : 'completed'
  }
  const lease = await SweepLease.acquire(context)
  if (lease === undefined) return 'lease-held'
  try {
    const before = await readCursors(context)
    const plan = await planReconcile(context, { cursors: before, keepLease: () => lease.keep() })
    progress.plan = plan
    const outcome = await apply(context, progress, { context, lease, used: 0 })
    const isDone = (action: ReconcileAction) => progress.outcomes.get(action) !== 'over-budget'
    const next = cursorsAfter(plan.pages, isDone)
    // Only now: a pass that ends before is done again.
    await lease.keep()
    if (hasMore(before) || hasMore(next)) await writeCursors(context, next)
    if (outcome === 'more' || hasMore(next)) return 'more'
    // What is left of a round does not wait for its hour.
    await recordHeartbeat(context, { reconcileAt: context.clock.now() })
    return outcome
  } finally {
    await lease.release()
  }
}

const nothing = async (): Promise<void> => {}

function hasMore(cursors: ReconcileCursors): boolean {
  return Object.keys(cursors).length > 0
}

async function apply(
  context: FleetContext,
  progress: Progress,
  pass: ReconcilePass,
): Promise<PassOutcome> {
  const { clock, policy } = context
  const untilMs = progress.startedAt + policy.passTimeoutMs
  let outcome: PassOutcome = 'completed'
  await inParallel(progress.plan?.actions ?? [], policy.concurrency, async (action) => {
    const result = clock.now() < untilMs ? await applyAction(action, pass) : 'over-budget'
    progress.outcomes.set(action, result)
    if (result === 'over-budget') outcome = 'more'
  })
  return outcome
}

function close(
  context: FleetContext,
  progress: Progress,
  outcome: PassOutcome,
  err?: unknown,
): ReconcileReport {
  const { isDryRun, outcomes, plan = NOTHING_FOUND, startedAt } = progress
  const { actions, rejected, skipped } = plan
  const fallback = isDryRun ? 'planned' : 'changed'
  const items = actions.map((action) => ({
    ...action,
    outcome: outcomes.get(action) ?? fallback,
  }))
  const finishedAt = context.clock.now()
  const hasFailed = err !== undefined
  const fields = { outcome, differences: items.length, rejected: rejected.length }
  if (hasFailed) context.logger.error({ ...fields, err }, fleetMessages.cleanupStopped)
  else context.logger.info(fields, fleetMessages.reconcileCompleted)
  const error = hasFailed ? { error: errorText(err) } : {}
  return { isDryRun, outcome, startedAt, finishedAt, items, rejected, skipped, ...error }
}
