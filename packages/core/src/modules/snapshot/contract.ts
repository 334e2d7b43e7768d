import type { WorkspaceRef } from '../../workspace/ref.ts'

/** A serialisable pointer to a stored state of a workspace. */
export interface SnapshotRef {
  readonly providerId: string
  readonly ref: unknown
}

/** Options of a snapshot, a restore or a branch. */
export interface SnapshotOptions {
  readonly signal?: AbortSignal
  /** Accept a snapshot that another session took. Default false. */
  readonly allowCrossSession?: boolean
  /**
   * Keeps the snapshot until `ProviderHistory.remove` frees it: also after the end of its workspace,
   * and beyond the number that the provider keeps otherwise. Default: false.
   */
  readonly keep?: boolean
}

/**
 * Stores states of a workspace. Restore and branch fork: they never touch the current
 * workspace and return the ref of a new one.
 */
export interface Snapshotter {
  snapshot(options?: SnapshotOptions): Promise<SnapshotRef>
  /** @throws {PolicyError} `cross-session` for a snapshot of another session. */
  restore(ref: SnapshotRef, options?: SnapshotOptions): Promise<WorkspaceRef>
  branch?(ref: SnapshotRef, options?: SnapshotOptions): Promise<WorkspaceRef>
}
