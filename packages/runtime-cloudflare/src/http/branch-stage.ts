import type { Clock } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import * as z from 'zod'
import type { AlarmSource } from '../alarm/alarm-scheduler.ts'

const KEY = 'helix:branch-files:'
/** No branch takes so long: its request has ended, or its instance. */
const ABANDONED_MS = 3_600_000
/** What has come for one branch: when it began, and snapshots by workspace. */
const stageSchema = z.strictObject({ at: z.number(), snapshots: z.record(z.string(), z.string()) })

/** The object of a branch. */
export interface BranchHost {
  readonly ctx: DurableObjectState
  readonly clock: Clock
}

/** What is loaded to remove files: it needs the snapshots of the object. */
export interface DropBranchFiles {
  readonly dropBranchFiles: (host: BranchHost) => Promise<void>
}

/**
 * Whether files came for a branch that was never made. Sets the alarm when that cannot be said yet.
 */
export async function hasAbandonedFiles(host: BranchHost): Promise<boolean> {
  const at = abandonedAt(host)
  if (at === undefined) return false
  if (host.clock.now() >= at) return true
  await ringForAbandoned(host, at)
  return false
}

/** When no branch can be under way any more that files came for. */
function abandonedAt({ ctx }: BranchHost): number | undefined {
  const begun = [...ctx.storage.kv.list({ prefix: KEY })].map(
    ([, value]) => stageSchema.parse(value).at,
  )
  return begun.length === 0 ? undefined : Math.max(...begun) + ABANDONED_MS
}

/**
 * Files that came for a branch, whose object was evicted before it had removed them. What no session was
 * made from goes with its object.
 */
export function branchFilesSource(
  host: BranchHost & { readonly stateStore: SessionStateStore; readonly sessionId: string },
  onDemand: () => Promise<DropBranchFiles>,
): AlarmSource {
  return {
    name: 'files of branches',
    nextAt: () => abandonedAt(host),
    run: async () => {
      const { dropBranchFiles } = await onDemand()
      if ((await host.stateStore.loadSession(host.sessionId)) !== null) await dropBranchFiles(host)
    },
  }
}

/** Ids of all branches that files came for. */
export function stagesOf({ ctx }: BranchHost): readonly string[] {
  return Array.from(ctx.storage.kv.list({ prefix: KEY }), ([key]) => key.slice(KEY.length))
}

export function forgetStage({ ctx }: BranchHost, stage: string): void {
  ctx.storage.kv.delete(KEY + stage)
}

/** What has come for a branch. */
export function readStage({ ctx }: BranchHost, stage: string) {
  const stored = ctx.storage.kv.get(KEY + stage)
  return stored === undefined ? undefined : stageSchema.parse(stored)
}

/** Before anything is stored: what comes is found again, whatever happens to its request. */
export async function recordBegun(host: BranchHost, stage: string): Promise<void> {
  const begun = readStage(host, stage) ?? { at: host.clock.now(), snapshots: {} }
  host.ctx.storage.kv.put(KEY + stage, begun)
  await ringForAbandoned(host, begun.at + ABANDONED_MS)
}

export function recordSnapshot(
  host: BranchHost,
  stage: string,
  [workspace, snapshotId]: readonly [workspace: string, snapshotId: string],
): void {
  const { at, snapshots } = readStage(host, stage) ?? { at: host.clock.now(), snapshots: {} }
  const next = { at, snapshots: { ...snapshots, [workspace]: snapshotId } }
  host.ctx.storage.kv.put(KEY + stage, next)
}

async function ringForAbandoned({ ctx }: BranchHost, at: number): Promise<void> {
  const current = await ctx.storage.getAlarm()
  if (current === null || current > at) await ctx.storage.setAlarm(at)
}
