import type { Clock } from '@helix-agents/core'
import type { CheckpointFiles } from '@helix-agents/runtime-js'
import { DOSnapshotStore } from '@helix-agents/store-cloudflare'
import type { Checkpoint, SessionStateStore } from '@helix-agents/core/runtime'
import * as z from 'zod'
import type { AlarmSource } from '../alarm/alarm-scheduler.ts'

/** Names the files that came for one branch, in the addresses of its requests. */
export const STAGE_PARAM = 'stage'
export const WORKSPACE_PARAM = 'workspace'
/** What a branch with files has to bring, beside what it begins with. */
export const BRANCH_FILES_HEADER = 'x-helix-branch-files'

/** Where the files of a branch are, and of which workspaces. */
export const branchPointSchema = z.strictObject({
  checkpointId: z.string(),
  workspaces: z.array(z.string()),
})

const KEY = 'helix:branch-files:'
/** No branch takes so long: its request has ended, or its instance. */
const ABANDONED_MS = 3_600_000
/** What has come for one branch: when it began, and snapshots by workspace. */
const stageSchema = z.strictObject({ at: z.number(), snapshots: z.record(z.string(), z.string()) })

/** The object of a branch. */
interface Host {
  readonly ctx: DurableObjectState
  readonly clock: Clock
}

/** The files that came for a branch, by workspace. */
export async function filesOfBranch(
  host: Host,
  stage: string,
): Promise<Record<string, CheckpointFiles>> {
  const snapshots: Readonly<Record<string, string>> = readStage(host, stage)?.snapshots ?? {}
  const store = new DOSnapshotStore(host.ctx.storage)
  const scope = scopeOf(stage)
  const files: Record<string, CheckpointFiles> = {}
  for (const [workspace, snapshotId] of Object.entries(snapshots)) {
    files[workspace] = { manifest: await store.getManifest(scope, snapshotId), store, scope }
  }
  return files
}

/** Removes what has come for branches, also for those whose request did not end. */
export async function dropBranchFiles(host: Host): Promise<void> {
  const { kv } = host.ctx.storage
  const store = new DOSnapshotStore(host.ctx.storage)
  const keys = Array.from(kv.list({ prefix: KEY }), ([key]) => key)
  for (const key of keys) {
    const scope = scopeOf(key.slice(KEY.length))
    for (const { snapshotId } of (await store.listManifests(scope)).items) {
      await store.deleteManifest(scope, snapshotId)
    }
    await store.sweep(scope, { graceMs: 0 })
    kv.delete(key)
  }
}

/**
 * Whether files came for a branch that was never made. Sets the alarm when that cannot be said yet.
 */
export async function hasAbandonedFiles(host: Host): Promise<boolean> {
  const at = abandonedAt(host)
  if (at === undefined) return false
  if (host.clock.now() >= at) return true
  await ringForAbandoned(host, at)
  return false
}

/** When no branch can be under way any more that files came for. */
function abandonedAt({ ctx }: Host): number | undefined {
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
  host: Host & { readonly stateStore: SessionStateStore; readonly sessionId: string },
): AlarmSource {
  return {
    name: 'files of branches',
    nextAt: () => abandonedAt(host),
    run: async () => {
      if ((await host.stateStore.loadSession(host.sessionId)) !== null) await dropBranchFiles(host)
    },
  }
}

/** The files of a checkpoint that a branch begins with, for those that it was there of. */
export function branchPointOf(
  { id, workspaceRefs, workspaceSnapshots = {} }: Checkpoint,
  declared: readonly string[],
): z.output<typeof branchPointSchema> {
  const isThere = (name: string): boolean =>
    Object.hasOwn(workspaceSnapshots, name) || Object.hasOwn(workspaceRefs, name)
  return { checkpointId: id, workspaces: declared.filter(isThere) }
}

async function ringForAbandoned({ ctx }: Host, at: number): Promise<void> {
  const current = await ctx.storage.getAlarm()
  if (current === null || current > at) await ctx.storage.setAlarm(at)
}

/** Scope of the snapshots that came for a branch. */
export function scopeOf(stage: string): string {
  return `branch-${stage}`
}

function readStage({ ctx }: Host, stage: string) {
  const stored = ctx.storage.kv.get(KEY + stage)
  return stored === undefined ? undefined : stageSchema.parse(stored)
}

/** Before anything is stored: what comes is found again, whatever happens to its request. */
export async function recordBegun(host: Host, stage: string): Promise<void> {
  const begun = readStage(host, stage) ?? { at: host.clock.now(), snapshots: {} }
  host.ctx.storage.kv.put(KEY + stage, begun)
  await ringForAbandoned(host, begun.at + ABANDONED_MS)
}

export function recordSnapshot(
  host: Host,
  stage: string,
  [workspace, snapshotId]: readonly [workspace: string, snapshotId: string],
): void {
  const { at, snapshots } = readStage(host, stage) ?? { at: host.clock.now(), snapshots: {} }
  const next = { at, snapshots: { ...snapshots, [workspace]: snapshotId } }
  host.ctx.storage.kv.put(KEY + stage, next)
}
