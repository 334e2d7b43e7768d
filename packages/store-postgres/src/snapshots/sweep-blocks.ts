import type { SweepResult } from '@helix-agents/core/provider'
import type { SqlDatabase, SqlStatements } from '@helix-agents/store-sql'
import { NamedBlocks } from './snapshot-manifests.ts'
import { addBytes, findScope, lockScope, textOf } from './snapshot-rows.ts'

/** Blocks that one transaction compares with what manifests name. */
const BLOCKS_A_TRANSACTION = 1000

const CANDIDATES =
  'SELECT hash FROM helix_snapshot_blocks WHERE scope_id = ? AND hash > ? AND used_at <= ?' +
  ' ORDER BY hash LIMIT ?'
/** One that was found since keeps its place: the time is compared again. */
const FREE =
  'DELETE FROM helix_snapshot_blocks WHERE scope_id = ? AND used_at <= ?' +
  ' AND hash IN (SELECT jsonb_array_elements_text(?::jsonb)) RETURNING size'
const KEPT = 'SELECT count(*) AS kept FROM helix_snapshot_blocks WHERE scope_id = ?'
const DELETE_EMPTY =
  'DELETE FROM helix_snapshot_scopes AS scope WHERE scope_id = ?' +
  ' AND NOT EXISTS (SELECT 1 FROM helix_snapshot_blocks WHERE scope_id = scope.scope_id)' +
  ' AND NOT EXISTS (SELECT 1 FROM helix_snapshot_manifests WHERE scope_id = scope.scope_id)'

/** What is swept, and up to which time. */
export interface Sweep {
  readonly database: SqlDatabase
  readonly name: string
  /** Blocks that were stored or found until then; part of a transaction. */
  readonly until: (sql: SqlStatements) => number
  readonly signal: AbortSignal | undefined
}

/**
 * Deletes the blocks that no manifest names and that were not used since. Each transaction locks the
 * scope: a manifest is stored before it, and is read by it, or after it, and its blocks are looked for
 * again.
 * @throws {SnapshotStoreError} `corrupt` when a manifest cannot be read: what it names is not known.
 */
export async function sweepBlocks({ database, name, until, signal }: Sweep): Promise<SweepResult> {
  const swept = { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  const scopeId = await database.read((sql) => findScope(sql, name))
  if (scopeId === 0) return swept
  const named = new NamedBlocks(scopeId)
  await named.readAll(database, signal)
  for (let last = ''; ;) {
    signal?.throwIfAborted()
    const after = last
    const part = await database.write((sql) => {
      if (lockScope(sql, name) !== scopeId) return undefined
      return sweepSome(sql, scopeId, { named, after, untilMs: until(sql) })
    })
    if (part === undefined) return swept
    swept.deletedBlocks += part.blocks
    swept.deletedBytes += part.bytes
    last = part.last ?? last
    if (part.last === undefined) break
  }
  swept.keptBlocks = await database.write((sql) => {
    lockScope(sql, name)
    sql.run(DELETE_EMPTY, scopeId)
    return Number(sql.get(KEPT, scopeId)?.['kept'])
  })
  return swept
}

/** @returns `last` is the last block that was compared, absent at the end. */
function sweepSome(
  sql: SqlStatements,
  scopeId: number,
  {
    named,
    after,
    untilMs,
  }: { readonly named: NamedBlocks; readonly after: string; readonly untilMs: number },
): { readonly blocks: number; readonly bytes: number; readonly last?: string } {
  const rows = sql.all(CANDIDATES, scopeId, after, untilMs, BLOCKS_A_TRANSACTION)
  const since = named.since(sql)
  const hashes = rows.map(({ hash }) => textOf(hash))
  const free = hashes.filter((hash) => !named.has(hash) && !since.has(hash))
  const freed = free.length === 0 ? [] : sql.all(FREE, scopeId, untilMs, JSON.stringify(free))
  const bytes = freed.reduce((sum, { size }) => sum + Number(size), 0)
  if (bytes > 0) addBytes(sql, scopeId, -bytes)
  const last = rows.length < BLOCKS_A_TRANSACTION ? undefined : hashes.at(-1)
  return { blocks: freed.length, bytes, ...(last !== undefined && { last }) }
}
