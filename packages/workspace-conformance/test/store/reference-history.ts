import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  BranchIntent,
  Checkpoint,
  Released,
  ReleasedRef,
  SessionHistory,
  StepCommit,
  StoredSnapshot,
} from '@helix-agents/core/runtime'

/** What the reference store keeps of the history of one session; plain. */
export interface StoredHistory {
  snapshots: StoredSnapshot[]
  changed: string[]
  released: Released[]
  ids: number
}

export const newHistory = (): StoredHistory => ({
  snapshots: [],
  changed: [],
  released: [],
  ids: 0,
})

export function addFiles(history: StoredHistory, commit: StepCommit, stepCount: number): void {
  const { workspaceSnapshots = {}, evictBefore = {}, now } = commit
  history.snapshots = history.snapshots.map((one) =>
    one.stepCount < (evictBefore[one.workspace] ?? 0) && one.files.snapshot !== undefined
      ? { ...one, files: { missing: 'evicted' as const } }
      : one,
  )
  for (const [workspace, files] of Object.entries(workspaceSnapshots)) {
    history.snapshots.push({ workspace, stepCount, files, createdAt: now })
    history.changed = history.changed.filter((name) => name !== workspace)
  }
}

export function withFilesOf(history: StoredHistory, checkpoint: Checkpoint): Checkpoint {
  const found = history.snapshots.filter((one) => one.stepCount <= checkpoint.stepCount)
  if (found.length === 0) return checkpoint
  const files = found.map(({ workspace, files: at }) => [workspace, at] as const)
  return { ...checkpoint, workspaceSnapshots: Object.fromEntries(files) }
}

export function goBack(
  history: StoredHistory,
  stepCount: number,
  restored: readonly string[],
): void {
  const names = [...history.changed, ...history.snapshots.map(({ workspace }) => workspace)]
  history.changed = [...new Set(names)].filter((name) => !restored.includes(name))
  history.snapshots = history.snapshots.filter((one) => one.stepCount <= stepCount)
}

export function releaseRef(
  history: StoredHistory,
  released: ReleasedRef | BranchIntent,
  now: number,
): number {
  history.ids += 1
  history.released.push({ ...released, id: history.ids, releasedAt: now })
  return history.ids
}

export function releaseReplacedRefs(
  history: StoredHistory,
  refs: Readonly<Record<'before' | 'after', Readonly<Record<string, WorkspaceRef>>>>,
  now: number,
): void {
  for (const [workspace, ref] of Object.entries(refs.before)) {
    if (JSON.stringify(refs.after[workspace]) === JSON.stringify(ref)) continue
    releaseRef(history, { workspace, ref }, now)
  }
}

export function toHistory(
  { snapshots, changed, released }: StoredHistory,
  owners: readonly { readonly workspaceRefs: Readonly<Record<string, WorkspaceRef>> }[],
): SessionHistory {
  const refs = owners.flatMap(({ workspaceRefs }) => Object.values(workspaceRefs))
  return { snapshots, changed, released, refs }
}
