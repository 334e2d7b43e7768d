import { createTimeSlice, type SweepResult } from '@helix-agents/core/provider'
import { type SnapshotTables, textOf } from './snapshot-tables.ts'
import type { StoredManifests } from './stored-manifests.ts'

/** Blocks that one transaction compares with what manifests name. */
const BLOCKS_A_TRANSACTION = 500

/** One scope of the tables. */
export interface SweptScope {
  readonly tables: SnapshotTables
  readonly manifests: StoredManifests
  /** 0: nothing is stored of it. */
  readonly scopeId: number
}

/**
 * Deletes the blocks that no manifest names and that were not used since.
 * @throws {SnapshotStoreError} `corrupt` when a manifest cannot be read: what it names is not known.
 */
export async function sweepBlocks(
  scope: SweptScope,
  untilMs: number,
  signal?: AbortSignal,
): Promise<SweepResult> {
  const { tables, scopeId } = scope
  if (scopeId === 0) return { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  const slice = createTimeSlice()
  const named = new NamedBlocks(scope)
  for (const id of named.unread()) {
    signal?.throwIfAborted()
    await scope.manifests.check(id)
    named.read(id)
    if (slice.due) await slice.pause()
  }
  const swept = { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  for (let last = 0; last >= 0;) {
    signal?.throwIfAborted()
    last = sweepSome(scope, named, { untilMs, last, swept })
    await slice.pause()
  }
  const row = tables.get(
    'SELECT count(*) AS kept FROM helix_snapshot_blocks WHERE scope_id = ?',
    scopeId,
  )
  return { ...swept, keptBlocks: Number(row?.['kept'] ?? 0) }
}

interface SweepState {
  readonly untilMs: number
  readonly last: number
  readonly swept: { deletedBlocks: number; deletedBytes: number }
}

/** @returns the last block that was compared, or -1 at the end */
function sweepSome(scope: SweptScope, named: NamedBlocks, state: SweepState): number {
  const { tables, scopeId } = scope
  const { untilMs, last, swept } = state
  return tables.write(() => {
    const rows = tables.all(
      `SELECT block_id, hash, size, object_key FROM helix_snapshot_blocks
       WHERE scope_id = ? AND block_id > ? AND used_at <= ? ORDER BY block_id LIMIT ?`,
      scopeId,
      last,
      untilMs,
      BLOCKS_A_TRANSACTION,
    )
    // Manifests that were stored since the last look.
    for (const id of named.unread()) named.read(id)
    const free = rows.filter(({ hash }) => !named.has(textOf(hash)))
    for (const { block_id, object_key } of free) {
      tables.all('DELETE FROM helix_snapshot_blocks WHERE block_id = ?', Number(block_id))
      if (object_key !== null) {
        tables.all('INSERT INTO helix_snapshot_garbage VALUES (?, 0)', textOf(object_key))
      }
    }
    if (free.length > 0) {
      const count = 'UPDATE helix_snapshot_scopes SET sweeps = sweeps + 1 WHERE scope_id = ?'
      tables.all(count, scopeId)
    }
    swept.deletedBlocks += free.length
    swept.deletedBytes += free.reduce((sum, { size }) => sum + Number(size), 0)
    return rows.length < BLOCKS_A_TRANSACTION ? -1 : Number(rows.at(-1)?.['block_id'])
  })
}

/** What the manifests of a scope name. */
class NamedBlocks {
  readonly #scope: SweptScope
  readonly #hashes = new Set<string>()
  #last = 0

  constructor(scope: SweptScope) {
    this.#scope = scope
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  unread(): readonly number[] {
    return this.#scope.manifests.idsAfter(this.#scope.scopeId, this.#last)
  }

  read(manifestId: number): void {
    for (const hash of this.#scope.manifests.hashes(manifestId)) this.#hashes.add(hash)
    this.#last = manifestId
  }
}
