import { SnapshotStoreError } from '../errors/snapshot-store-error.ts'
import type { SnapshotHeader } from './manifest.ts'
import { blockLengths, checkBlocks, pathsWith } from './read-blocks.ts'
import type { SnapshotStore } from './snapshot-store.ts'

/** A snapshot that cannot be restored whole. */
export interface DamagedSnapshot {
  readonly snapshotId: string
  /** Why its manifest cannot be read. Absent: it can be. */
  readonly problem?: string
  /** Files with content that is missing. */
  readonly missing: readonly string[]
  /** Files with content that does not match its hash. */
  readonly corrupt: readonly string[]
}

/** What `verifySnapshots` found. */
export interface VerifiedSnapshots {
  readonly snapshots: number
  readonly damaged: readonly DamagedSnapshot[]
}

/** Reads every snapshot of a scope, and compares all content with its hash. */
export async function verifySnapshots(
  store: SnapshotStore,
  scope: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<VerifiedSnapshots> {
  const damaged: DamagedSnapshot[] = []
  let snapshots = 0
  for await (const { snapshotId } of allManifests(store, scope)) {
    signal?.throwIfAborted()
    snapshots += 1
    const found = await verifyOne(store, scope, snapshotId, signal)
    if (found !== undefined) damaged.push(found)
  }
  return { snapshots, damaged }
}

/** The headers of a scope, page by page, the newest first. */
export async function* allManifests(
  store: SnapshotStore,
  scope: string,
): AsyncGenerator<SnapshotHeader, void> {
  let after: string | undefined
  do {
    const page = await store.listManifests(scope, after === undefined ? {} : { after })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}

async function verifyOne(
  store: SnapshotStore,
  scope: string,
  snapshotId: string,
  signal?: AbortSignal,
): Promise<DamagedSnapshot | undefined> {
  try {
    const { entries } = await store.getManifest(scope, snapshotId)
    const lengths = await blockLengths(entries)
    const { missing, corrupt } = await checkBlocks({ store, scope }, lengths, () => {}, signal)
    if (missing.size + corrupt.size === 0) return undefined
    return {
      snapshotId,
      missing: pathsWith(entries, missing),
      corrupt: pathsWith(entries, corrupt),
    }
  } catch (error) {
    if (!SnapshotStoreError.isInstance(error) || error.transient) throw error
    // Deleted meanwhile: nothing is left that could be damaged.
    if (error.code === 'not-found') return undefined
    return { snapshotId, problem: error.message, missing: [], corrupt: [] }
  }
}
