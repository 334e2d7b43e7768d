import { SnapshotStoreError } from '@helix-agents/core'
import {
  pageLimit,
  parseHeader,
  parseManifest,
  type SnapshotHeader,
  snapshotKey,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
} from '@helix-agents/core/provider'
import { type SnapshotTables, textOf } from './snapshot-tables.ts'

/** Below the limit of a value. */
const PIECE_BYTES = 1_000_000
const HASHES = /"([0-9a-f]{64})"/g

/** The manifests of all scopes, in pieces that fit into a row. */
export class StoredManifests {
  readonly #tables: SnapshotTables

  constructor(tables: SnapshotTables) {
    this.#tables = tables
  }

  /** Part of a transaction. @throws {SnapshotStoreError} `already-exists` */
  insert(scopeId: number, header: SnapshotHeader, encoded: Uint8Array): void {
    if (this.#idOf(scopeId, header.snapshotId) !== undefined) {
      throw new SnapshotStoreError('already-exists', 'a snapshot with this id is stored')
    }
    const row = this.#tables.get(
      `INSERT INTO helix_snapshot_manifests (scope_id, snapshot_id, sort_key, header)
       VALUES (?, ?, ?, ?) RETURNING manifest_id`,
      scopeId,
      header.snapshotId,
      snapshotKey(header),
      JSON.stringify(header),
    )
    const id = Number(row?.['manifest_id'])
    for (let piece = 0; piece * PIECE_BYTES < encoded.length; piece += 1) {
      const bytes = encoded.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
      this.#tables.all('INSERT INTO helix_snapshot_pieces VALUES (?, ?, ?)', id, piece, bytes)
    }
  }

  /** @throws {SnapshotStoreError} `not-found`, `corrupt` */
  async read(scopeId: number, snapshotId: string): Promise<SnapshotManifest> {
    const id = this.#idOf(scopeId, snapshotId)
    if (id === undefined) throw new SnapshotStoreError('not-found', 'there is no such snapshot')
    return readable(() => parseManifest(this.#bytes(id)))
  }

  /** @throws {SnapshotStoreError} `corrupt` */
  async list(scopeId: number, query: SnapshotPageQuery): Promise<SnapshotPage<SnapshotHeader>> {
    const limit = pageLimit(query)
    const rows = this.#tables.all(
      `SELECT sort_key, header FROM helix_snapshot_manifests
       WHERE scope_id = ? AND (? IS NULL OR sort_key < ?) ORDER BY sort_key DESC LIMIT ?`,
      scopeId,
      query.after ?? null,
      query.after ?? null,
      limit + 1,
    )
    const shown = rows.slice(0, limit)
    const items = await readable(async () => shown.map((row) => parseHeader(textOf(row['header']))))
    const next = rows.length > limit ? textOf(shown.at(-1)?.['sort_key']) : undefined
    return { items, ...(next !== undefined && { next }) }
  }

  /** Part of a transaction. */
  delete(scopeId: number, snapshotId: string): boolean {
    const id = this.#idOf(scopeId, snapshotId)
    if (id === undefined) return false
    this.#tables.all('DELETE FROM helix_snapshot_pieces WHERE manifest_id = ?', id)
    this.#tables.all('DELETE FROM helix_snapshot_manifests WHERE manifest_id = ?', id)
    return true
  }

  /** Ids of those that were stored behind another, oldest first. */
  idsAfter(scopeId: number, manifestId: number): readonly number[] {
    const rows = this.#tables.all(
      `SELECT manifest_id FROM helix_snapshot_manifests
       WHERE scope_id = ? AND manifest_id > ? ORDER BY manifest_id`,
      scopeId,
      manifestId,
    )
    return rows.map((row) => Number(row['manifest_id']))
  }

  /** @throws {SnapshotStoreError} `corrupt` */
  async check(manifestId: number): Promise<void> {
    const bytes = this.#bytes(manifestId)
    // Deleted meanwhile.
    if (bytes.length > 0) await readable(() => parseManifest(bytes))
  }

  /** The hashes in one that was checked, or was stored just now. */
  hashes(manifestId: number): readonly string[] {
    const text = new TextDecoder('latin1').decode(this.#bytes(manifestId))
    return Array.from(text.matchAll(HASHES), ([, hash = '']) => hash)
  }

  #idOf(scopeId: number, snapshotId: string): number | undefined {
    const row = this.#tables.get(
      'SELECT manifest_id FROM helix_snapshot_manifests WHERE scope_id = ? AND snapshot_id = ?',
      scopeId,
      snapshotId,
    )
    return row === undefined ? undefined : Number(row['manifest_id'])
  }

  #bytes(manifestId: number): Uint8Array {
    const rows = this.#tables.all(
      'SELECT bytes FROM helix_snapshot_pieces WHERE manifest_id = ? ORDER BY piece',
      manifestId,
    )
    const pieces = rows.flatMap(({ bytes }) => (bytes instanceof ArrayBuffer ? [bytes] : []))
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0))
    let at = 0
    for (const piece of pieces) {
      whole.set(new Uint8Array(piece), at)
      at += piece.byteLength
    }
    return whole
  }
}

/** What the format rejects in a store was damaged there. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!SnapshotStoreError.isInstance(error)) throw error
    throw new SnapshotStoreError('corrupt', `a stored snapshot is damaged: ${error.message}`, {
      cause: error,
    })
  }
}
