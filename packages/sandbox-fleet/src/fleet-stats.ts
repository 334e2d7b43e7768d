import type { JsonValue } from '@helix-agents/core'
import * as z from 'zod'
import type { FleetContext } from './fleet-context.ts'
import { activeOf } from './ledger/record-counts.ts'
import type { FleetUsage } from './store/fleet-store.ts'

const STATE = 'heartbeat'

/** Several environments may share a ledger: each has its own state of a name. */
export function stateKey({ environment }: FleetContext, name: string): string {
  return `${name}:${environment}`
}

/** Counts and usage of the fleet of one environment. */
export interface FleetStats {
  readonly environment: string
  /** Sandboxes that count against capacity: all but detached and terminated. */
  readonly active: number
  readonly provisioning: number
  /** Running, without those that are detached. */
  readonly running: number
  /** Released by a session that may resume. */
  readonly detached: number
  /** Destroy requested and not confirmed. */
  readonly terminating: number
  /** Unusable, and possibly still there. */
  readonly failed: number
  /** Sandboxes ever created. */
  readonly totalCreated: number
  /** Sandboxes confirmed gone. */
  readonly totalDestroyed: number
  /** `maxConcurrentSandboxes` of the policy. */
  readonly capacity: number
  /** `active / capacity`. */
  readonly usedRatio: number
  /** Operations in the alert window. */
  readonly usage: FleetUsage
  /** End of the last cleanup; milliseconds since the epoch. Absent before the first one. */
  readonly lastCleanupAt?: number
  /** Creation of the oldest sandbox of the ledger; present until the first cleanup has ended. */
  readonly firstSandboxAt?: number
  /** End of the last complete reconciliation. Absent before the first one. */
  readonly lastReconcileAt?: number
}

const heartbeatSchema = z.object({
  cleanupAt: z.number().exactOptional(),
  reconcileAt: z.number().exactOptional(),
})

/** When passes ended, as it is kept for all processes. */
export type Heartbeat = Readonly<z.output<typeof heartbeatSchema>>

/** @throws {FleetError} `unavailable` */
export async function readHeartbeat(context: FleetContext): Promise<Heartbeat> {
  const result = heartbeatSchema.safeParse(await context.store.readState(stateKey(context, STATE)))
  return result.success ? result.data : {}
}

/** @throws {FleetError} `unavailable` */
export async function recordHeartbeat(
  context: FleetContext,
  change: Partial<Heartbeat>,
): Promise<void> {
  const next: Record<string, JsonValue> = { ...(await readHeartbeat(context)), ...change }
  await context.store.writeState(stateKey(context, STATE), next)
}

/** @throws {FleetError} `unavailable` */
export async function readStats(context: FleetContext, usageMs: number): Promise<FleetStats> {
  const { clock, environment, policy, store } = context
  await clock.keepTime()
  const counts = await store.counts(environment)
  const usage = await store.usageSince(clock.now() - usageMs)
  const heartbeat = await readHeartbeat(context)
  const active = activeOf(counts)
  const capacity = policy.maxConcurrentSandboxes
  return {
    environment,
    active,
    provisioning: counts.provisioning,
    running: counts.running,
    detached: counts.detached,
    terminating: counts.terminating,
    failed: counts.failed,
    totalCreated: counts.created,
    totalDestroyed: counts.destroyed,
    capacity,
    usedRatio: active / capacity,
    usage,
    ...(await cleanupTimes(context, heartbeat)),
    ...(heartbeat.reconcileAt !== undefined && { lastReconcileAt: heartbeat.reconcileAt }),
  }
}

/** Without a cleanup, the first record says since when there is something to clean. */
async function cleanupTimes(
  { clock, environment, policy, store }: FleetContext,
  { cleanupAt }: Heartbeat,
): Promise<Pick<FleetStats, 'firstSandboxAt' | 'lastCleanupAt'>> {
  // A clock that was ahead recorded a time that is yet to come: it says nothing.
  const isPast = cleanupAt !== undefined && cleanupAt <= clock.now() + policy.clockSkewMs
  if (isPast) return { lastCleanupAt: cleanupAt }
  const firstSandboxAt = await store.firstCreatedAt(environment)
  return firstSandboxAt === undefined ? {} : { firstSandboxAt }
}
