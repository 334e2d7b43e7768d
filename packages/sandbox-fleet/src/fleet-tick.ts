import type { Alert } from './alerts/alert.ts'
import { sampleResources } from './detect/sample-resources.ts'
import type { FleetContext } from './fleet-context.ts'
import { fleetMessages } from './fleet-messages.ts'
import { readHeartbeat } from './fleet-stats.ts'
import { activeOf } from './ledger/record-counts.ts'
import type { ReconcileReport } from './reconcile/reconcile-report.ts'
import type { CleanupReport } from './sweep/cleanup-report.ts'
import { runCleanup } from './sweep/run-cleanup.ts'

const PRUNED_AT_ONCE = 500

/** Result of one tick. */
export interface TickReport {
  readonly cleanup: CleanupReport
  /** Absent when it was not due. */
  readonly reconcile?: ReconcileReport
  /** Sandboxes whose use was measured. */
  readonly sampled: number
  /** Records of what is long gone that were removed. */
  readonly pruned: number
  /** Alerts that are firing. */
  readonly alerts: readonly Alert[]
  /** Errors outside of the passes. */
  readonly errors: readonly string[]
}

interface Actions {
  reconcile(): Promise<ReconcileReport>
  alerts(): Promise<readonly Alert[]>
}

/** Runs everything that is due; each part runs even if another one fails. */
export async function runTick(context: FleetContext, actions: Actions): Promise<TickReport> {
  const errors: string[] = []
  const attempt = async <T>(fallback: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (err) {
      errors.push(err instanceof Error ? err.message : 'unknown error')
      context.logger.error({ err }, fleetMessages.cleanupStopped)
      return fallback
    }
  }
  await attempt(undefined, () => context.clock.keepTime())
  const sampled = await attempt(0, () => sampleResources(context))
  const mode = await attempt('scheduled' as const, () => modeOf(context))
  const cleanup = await runCleanup(context, mode)
  const reconcile = await attempt(undefined, () => reconcileIfDue(context, actions))
  const before = context.clock.now() - context.policy.tombstoneMs
  const pruned = await attempt(0, () => context.store.prune({ before, limit: PRUNED_AT_ONCE }))
  const alerts = await attempt([], () => actions.alerts())
  return { cleanup, ...(reconcile !== undefined && { reconcile }), sampled, pruned, alerts, errors }
}

async function modeOf({ environment, policy, store }: FleetContext) {
  const used = activeOf(await store.counts(environment)) / policy.maxConcurrentSandboxes
  return used >= policy.pressureRatio ? ('pressure' as const) : ('scheduled' as const)
}

async function reconcileIfDue(
  context: FleetContext,
  actions: Actions,
): Promise<ReconcileReport | undefined> {
  const { clock, policy } = context
  const { reconcileAt = 0 } = await readHeartbeat(context)
  const sinceMs = clock.now() - reconcileAt
  // A clock that was ahead recorded a future time: do not wait for it.
  const isDue = sinceMs >= policy.reconcileIntervalMs || sinceMs < -policy.clockSkewMs
  return isDue ? actions.reconcile() : undefined
}
