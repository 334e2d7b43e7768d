import { onDemand } from '../door.ts'
import type { FileSystem } from '../modules/fs/contract.ts'
import type { SnapshotManifest } from './manifest.ts'
import type { RestoredSnapshot, RestoreSnapshotOptions } from './restore-files.ts'
import type { SnapshotStore } from './snapshot-store.ts'

/**
 * Writes a snapshot into an empty workspace. Every block is read and verified before anything is
 * written. A target that a failure left incomplete is thrown away by the caller.
 *
 * @throws {SnapshotStoreError} `invalid-manifest`, `target-not-empty`, `missing-blocks`, `corrupt`
 * (these name files).
 * @throws {FileSystemError} as the target does: `storage-full`, `too-large`.
 */
export async function restoreSnapshot(
  manifest: SnapshotManifest,
  store: SnapshotStore,
  fs: FileSystem,
  options: RestoreSnapshotOptions,
): Promise<RestoredSnapshot> {
  const { restoreFiles } = await onDemand()
  return restoreFiles(manifest, store, fs, options)
}
