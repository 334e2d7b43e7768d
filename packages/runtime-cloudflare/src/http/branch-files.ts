import type { CheckpointFiles } from '@helix-agents/runtime-js'
import { DOSnapshotStore } from '@helix-agents/store-cloudflare/snapshots'
import { type BranchHost, forgetStage, readStage, stagesOf } from './branch-stage.ts'

/** The files that came for a branch, by workspace. */
export async function filesOfBranch(
  host: BranchHost,
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
export async function dropBranchFiles(host: BranchHost): Promise<void> {
  const store = new DOSnapshotStore(host.ctx.storage)
  for (const stage of stagesOf(host)) {
    const scope = scopeOf(stage)
    for (const { snapshotId } of (await store.listManifests(scope)).items) {
      await store.deleteManifest(scope, snapshotId)
    }
    await store.sweep(scope, { graceMs: 0 })
    forgetStage(host, stage)
  }
}

/** Scope of the snapshots that came for a branch. */
export function scopeOf(stage: string): string {
  return `branch-${stage}`
}
