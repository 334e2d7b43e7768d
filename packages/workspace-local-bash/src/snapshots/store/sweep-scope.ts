import { SnapshotStoreError } from '@helix-agents/core'
import {
  createTimeSlice,
  SNAPSHOT_GRACE_MS,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotManifest,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import type { BlockFiles } from './block-files.ts'
import { BlockNames } from './block-names.ts'
import type { ManifestFiles } from './manifest-files.ts'

/**
 * Makes sure that every block of a manifest is there.
 * @param known Entries whose blocks are there, sorted.
 * @throws {SnapshotStoreError} `missing-blocks`
 */
export async function checkBlocks(
  { entries }: SnapshotManifest,
  files: BlockFiles,
  known: readonly SnapshotEntry[],
): Promise<void> {
  const slice = createTimeSlice()
  const checked = new Set<string>()
  for (const entry of unknownOf(entries, known)) {
    if (slice.due) await slice.pause()
    for (const hash of entry.blocks) {
      if (!checked.has(hash) && !files.has(hash)) {
        throw new SnapshotStoreError('missing-blocks', 'blocks of the snapshot are not stored')
      }
      checked.add(hash)
    }
  }
}

/** The files that are not among the known entries, found in one pass through both. */
function* unknownOf(
  entries: readonly SnapshotEntry[],
  known: readonly SnapshotEntry[],
): Generator<SnapshotFile> {
  let at = 0
  for (const entry of entries) {
    let before = known[at]
    while (before !== undefined && before !== entry && before.path < entry.path) {
      at += 1
      before = known[at]
    }
    if (entry.type === 'file' && before !== entry) yield entry
  }
}

/**
 * Deletes the blocks that no manifest names, and that none wanted for the grace period.
 * @throws {SnapshotStoreError} `corrupt` when a manifest cannot be read: what it names is not known.
 */
export async function sweepScope(
  { blocks, manifests }: { readonly blocks: BlockFiles; readonly manifests: ManifestFiles },
  nowMs: number,
  options: SweepOptions,
): Promise<SweepResult> {
  const { graceMs = SNAPSHOT_GRACE_MS, signal } = options
  const slice = createTimeSlice()
  const pause = async (): Promise<void> => {
    await slice.pause()
    signal?.throwIfAborted()
  }
  const named = new BlockNames()
  for (const key of manifests.keys()) {
    await manifests.addNames(key, named)
    signal?.throwIfAborted()
  }
  const swept = { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  for (const hash of blocks.list()) {
    if (slice.due) await pause()
    const stat = named.has(hash) ? undefined : blocks.stat(hash)
    if (stat === undefined || nowMs - stat.wantedMs < graceMs) {
      swept.keptBlocks += 1
      continue
    }
    blocks.delete(hash)
    swept.deletedBlocks += 1
    swept.deletedBytes += stat.bytes
  }
  blocks.deleteDrafts(nowMs - graceMs)
  return swept
}
