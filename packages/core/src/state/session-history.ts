import type { SnapshotRef } from '../modules/snapshot/contract.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'

/**
 * The files of one workspace after a step. Without a snapshot they cannot be restored: it could not be
 * taken (`failed`), or a limit of the history removed it (`evicted`).
 */
export type CheckpointSnapshot =
  | { readonly snapshot: SnapshotRef; readonly missing?: undefined }
  | { readonly missing: 'failed' | 'evicted'; readonly snapshot?: undefined }

/** The files of the workspaces of a checkpoint, by workspace. */
export type CheckpointSnapshots = Readonly<Record<string, CheckpointSnapshot>>

/** The files of one workspace, and the step that they belong to. */
export interface StoredSnapshot {
  readonly workspace: string
  readonly stepCount: number
  readonly files: CheckpointSnapshot
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** A backend that a session has let go, and that may still exist. */
export interface ReleasedRef {
  readonly workspace: string
  readonly ref: WorkspaceRef
}

/** A branch that was about to be made: backends of it may exist although its session does not. */
export interface BranchIntent {
  readonly branchId: string
  /** What was about to be made for it, by a provider that cannot list what a session has. */
  readonly made?: ReleasedRef
}

/** What a session has left behind. */
export type Released = (ReleasedRef | BranchIntent) & {
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly releasedAt: number
}

/** What a session and its checkpoints need of their providers, and what they need no more. */
export interface SessionHistory {
  /** Of all checkpoints, the oldest first. */
  readonly snapshots: readonly StoredSnapshot[]
  /** Workspaces whose files are not those of the newest checkpoint. */
  readonly changed: readonly string[]
  /** Refs of the session and of all its checkpoints. */
  readonly refs: readonly WorkspaceRef[]
  /** The oldest first. */
  readonly released: readonly Released[]
}

/** How a restore treats the workspaces. */
export interface RestoreOptions {
  /** The run that holds the session. Default: none may. */
  readonly runId?: string
  /**
   * Workspaces whose files go back: refs of backends that have them, `null` for one that the
   * checkpoint does not know. Default: every workspace keeps its files.
   */
  readonly files?: Readonly<Record<string, WorkspaceRef | null>>
}
