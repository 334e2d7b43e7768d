import type { SnapshotStore } from '@helix-agents/core/provider'

/**
 * A store of snapshots under test, empty. One whose snapshots outlive its process offers `durable`
 * and has `reopen`; one whose stored bytes the test can reach offers `damage`.
 */
export interface SnapshotStoreSubject {
  readonly store: SnapshotStore
  /** Moves the clock of the store forward. */
  readonly advance: (ms: number) => Promise<void>
  /** The same snapshots through a new store, as another process has them. */
  readonly reopen?: () => Promise<SnapshotStore>
  /** Changes one byte of a stored block of the scope `scope`, behind the back of the store. */
  readonly damageBlock?: (hash: string) => Promise<void>
  /** Changes one digit of a hash in a stored manifest of the scope `scope`. */
  readonly damageManifest?: (snapshotId: string) => Promise<void>
}
