import { SnapshotStoreError } from '@helix-agents/core'
import type { SnapshotHeader } from '@helix-agents/core/provider'
import type { DirectorySnapshotStore } from './store/directory-snapshot-store.ts'

/** Deleted snapshots after which the blocks that only they named are freed. */
const SWEEP_AFTER = 8
/** A snapshot that another process takes meanwhile keeps its blocks so long. */
const GRACE_MS = 60_000

/** How many snapshots are kept. */
export interface SnapshotBounds {
  readonly maxSnapshots: number
  /** Bytes of all blocks. */
  readonly maxBytes: number
}

/**
 * The snapshots of a workspace that was opened, and of those restored from it: one scope of the
 * store, in which equal contents are stored once.
 */
export class SnapshotLine {
  readonly scope: string
  readonly store: DirectorySnapshotStore
  readonly bounds: SnapshotBounds
  /** Bytes of all blocks; unset until they are measured. */
  #bytes: number | undefined
  #deleted = 0

  constructor(scope: string, store: DirectorySnapshotStore, bounds: SnapshotBounds) {
    this.scope = scope
    this.store = store
    this.bounds = bounds
  }

  /** The newest snapshot of a workspace. */
  async newestOf(workspaceId: string): Promise<SnapshotHeader | undefined> {
    const { items } = await this.store.listManifests(this.scope)
    return items.find((header) => header.workspaceId === workspaceId)
  }

  /** Deletes the oldest snapshots over the bounds; the newest and kept ones stay. */
  async dropOldest(newBytes: number): Promise<void> {
    const { maxSnapshots, maxBytes } = this.bounds
    const dropped = await this.#unkept()
    while (dropped.length > maxSnapshots) await this.#delete(dropped.pop())
    this.#bytes = (this.#bytes ?? (await this.store.blockBytes(this.scope))) + newBytes
    if (this.#deleted >= SWEEP_AFTER) await this.#sweep(GRACE_MS)
    if (this.#bytes > maxBytes) await this.#sweep(0)
    while (this.#bytes > maxBytes && dropped.length > 1) {
      await this.#delete(dropped.pop())
      await this.#sweep(0)
    }
  }

  /** Deletes one snapshot. */
  async remove(id: string): Promise<void> {
    await this.#delete(id)
    if (this.#deleted >= SWEEP_AFTER) await this.#sweep(GRACE_MS)
  }

  /** Deletes all of the line, or all but kept snapshots. */
  async deleteAllButKept(): Promise<void> {
    for (const id of await this.#unkept()) await this.#delete(id)
    const { items } = await this.store.listManifests(this.scope, { limit: 1 })
    if (items.length === 0) await this.store.deleteScope(this.scope)
    else await this.#sweep(0)
  }

  /** Blocks of a snapshot that failed are freed with the next sweep, which is due then. */
  leaveGarbage(): void {
    this.#deleted += SWEEP_AFTER
  }

  /** Ids, the newest first. */
  async #unkept(): Promise<string[]> {
    const ids: string[] = []
    for await (const { snapshotId, kept } of this.store.manifests(this.scope)) {
      if (kept !== true) ids.push(snapshotId)
    }
    return ids
  }

  async #delete(id: string | undefined): Promise<void> {
    if (id !== undefined) await this.store.deleteManifest(this.scope, id)
    this.#deleted += 1
  }

  /** While one of its snapshots is damaged nothing is freed; deleting that one ends it. */
  async #sweep(graceMs: number): Promise<void> {
    try {
      await this.store.sweep(this.scope, { graceMs })
    } catch (error) {
      if (!SnapshotStoreError.isInstance(error) || error.code !== 'corrupt') throw error
    }
    this.#bytes = await this.store.blockBytes(this.scope)
    this.#deleted = 0
  }
}
