import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  BranchIntent,
  CheckpointSnapshots,
  Released,
  ReleasedRef,
  StoredSnapshot,
} from '@helix-agents/core/runtime'

type Refs = Readonly<Record<string, WorkspaceRef>>

/** The files that the checkpoints of one session have, and what the session has left behind. */
export class HistoryBook {
  /** Oldest first. */
  snapshots: readonly StoredSnapshot[] = []
  changed: readonly string[] = []
  released: readonly Released[] = []
  #lastId = 0

  /** Files after a step. */
  add(files: CheckpointSnapshots, at: { readonly stepCount: number; readonly now: number }): void {
    const names = Object.keys(files)
    const added = Object.entries(files).map(([workspace, one]) => ({
      workspace,
      stepCount: at.stepCount,
      files: one,
      createdAt: at.now,
    }))
    this.snapshots = [...this.snapshots, ...added]
    this.changed = this.changed.filter((name) => !names.includes(name))
  }

  /** Snapshots of steps before the given ones are gone. */
  evict(before: Readonly<Record<string, number>>): void {
    const limits = new Map(Object.entries(before))
    this.snapshots = this.snapshots.map((one) => {
      const isEvicted =
        one.stepCount < (limits.get(one.workspace) ?? 0) && one.files.snapshot !== undefined
      return isEvicted ? { ...one, files: { missing: 'evicted' } } : one
    })
  }

  /** The files of a checkpoint: of each workspace those of its last step that changed them. */
  at(stepCount: number): CheckpointSnapshots | undefined {
    const found = this.snapshots.filter((one) => one.stepCount <= stepCount)
    if (found.length === 0) return undefined
    return Object.fromEntries(found.map(({ workspace, files }) => [workspace, files]))
  }

  /** Goes back to a step; the files of workspaces that are not `restored` stay as they are. */
  goBack(stepCount: number, restored: readonly string[]): void {
    const names = [...this.changed, ...this.snapshots.map(({ workspace }) => workspace)]
    this.changed = [...new Set(names)].filter((name) => !restored.includes(name))
    this.snapshots = this.snapshots.filter((one) => one.stepCount <= stepCount)
  }

  /** Refs that are replaced or removed by other ones. */
  releaseReplaced(before: Refs, after: Refs, now: number): void {
    for (const [workspace, ref] of Object.entries(before)) {
      const next = Object.hasOwn(after, workspace) ? after[workspace] : undefined
      if (JSON.stringify(next) !== JSON.stringify(ref)) this.release({ workspace, ref }, now)
    }
  }

  release(released: ReleasedRef | BranchIntent, now: number): number {
    this.#lastId += 1
    this.released = [...this.released, { ...released, id: this.#lastId, releasedAt: now }]
    return this.#lastId
  }

  forget(ids: readonly number[]): void {
    this.released = this.released.filter(({ id }) => !ids.includes(id))
  }
}
