import { onDemand } from '../../door.ts'
import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import type { FileSystem } from '../../modules/fs/contract.ts'
import type { SnapshotStore } from '../snapshot-store.ts'
import type { TakenSnapshot, TakeSnapshotOptions } from './take-files.ts'

/**
 * Stores the files of a workspace. Each file is in it as it was at one moment; commands that write
 * meanwhile may be in it in part. Memory does not grow with the size of files.
 *
 * @throws {SnapshotStoreError} `too-large`, `source-changed`, `storage-full`, `already-exists`.
 * @throws {FileSystemError} as the file system does; a path that is removed meanwhile is left out.
 */
export async function takeSnapshot(
  fs: FileSystem,
  store: SnapshotStore,
  options: TakeSnapshotOptions,
): Promise<TakenSnapshot> {
  const { takeFiles } = await onDemand()
  try {
    return await takeFiles(fs, store, options)
  } catch (error) {
    const wasFreed = SnapshotStoreError.isInstance(error) && error.code === 'missing-blocks'
    if (!wasFreed || options.parent === undefined) throw error
    // The parent was deleted meanwhile and its blocks with it: every file is read.
    const { parent: _, ...withoutParent } = options
    return takeFiles(fs, store, withoutParent)
  }
}
