import { SnapshotStoreError } from '@helix-agents/core'
import {
  blocksOf,
  pageLimit,
  parseHeader,
  parseManifest,
  type SnapshotHeader,
  snapshotKey,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
} from '@helix-agents/core/provider'
import type { SqlDatabase, SqlStatements } from '@helix-agents/store-sql'
import { findScope, fromBase64, textOf } from './snapshot-rows.ts'

const SNAPSHOT_ID = /^[A-Za-z0-9_-]{16,128}$/
const HASHES = /"([0-9a-f]{64})"/g

const INSERT =
  'INSERT INTO helix_snapshot_manifests (scope_id, snapshot_id, sort_key, header, bytes)' +
  " VALUES (?, ?, ?, ?, decode(?, 'base64')) ON CONFLICT DO NOTHING RETURNING manifest_id"
const READ =
  "SELECT encode(bytes, 'base64') AS bytes FROM helix_snapshot_manifests" +
  ' WHERE scope_id = ? AND snapshot_id = ?'
const LIST =
  'SELECT sort_key, header FROM helix_snapshot_manifests' +
  ' WHERE scope_id = ? AND (?::text IS NULL OR sort_key < ?) ORDER BY sort_key DESC LIMIT ?'
const DELETE =
  'DELETE FROM helix_snapshot_manifests WHERE scope_id = ? AND snapshot_id = ?' +
  ' RETURNING octet_length(bytes) AS size'
const NEXT =
  "SELECT manifest_id, encode(bytes, 'base64') AS bytes FROM helix_snapshot_manifests" +
  ' WHERE scope_id = ? AND manifest_id > ? ORDER BY manifest_id LIMIT 1'

/** Part of a transaction that has locked the scope. @throws {SnapshotStoreError} `already-exists` */
export function insertManifest(
  sql: SqlStatements,
  scopeId: number,
  { header, encoded }: { readonly header: SnapshotHeader; readonly encoded: string },
): void {
  const { snapshotId } = header
  const text = JSON.stringify(header)
  const row = sql.get(INSERT, scopeId, snapshotId, snapshotKey(header), text, encoded)
  if (row === undefined) {
    throw new SnapshotStoreError('already-exists', 'a snapshot with this id is stored')
  }
}

/** @throws {SnapshotStoreError} `not-found`, `corrupt` */
export async function readManifest(
  database: SqlDatabase,
  name: string,
  snapshotId: string,
): Promise<SnapshotManifest> {
  const row = SNAPSHOT_ID.test(snapshotId)
    ? await database.read((sql) => sql.get(READ, findScope(sql, name), snapshotId))
    : undefined
  if (row === undefined) throw new SnapshotStoreError('not-found', 'there is no such snapshot')
  return readable(() => parseManifest(fromBase64(row['bytes'])))
}

/** @throws {SnapshotStoreError} `corrupt` */
export async function listHeaders(
  database: SqlDatabase,
  name: string,
  query: SnapshotPageQuery,
): Promise<SnapshotPage<SnapshotHeader>> {
  const limit = pageLimit(query)
  // A text of the database has no NUL, and no key of a page either.
  const after = query.after?.replaceAll('\0', '') ?? null
  const rows = await database.read((sql) =>
    sql.all(LIST, findScope(sql, name), after, after, limit + 1),
  )
  const shown = rows.slice(0, limit)
  const items = await readable(async () => shown.map((row) => parseHeader(textOf(row['header']))))
  const next = rows.length > limit ? textOf(shown.at(-1)?.['sort_key']) : undefined
  return { items, ...(next !== undefined && { next }) }
}

/** Part of a transaction that has locked the scope. @returns its bytes; undefined: there was none. */
export function removeManifest(
  sql: SqlStatements,
  scopeId: number,
  snapshotId: string,
): number | undefined {
  if (!SNAPSHOT_ID.test(snapshotId)) return undefined
  const row = sql.get(DELETE, scopeId, snapshotId)
  return row === undefined ? undefined : Number(row['size'])
}

/** What the manifests of a scope name. Each is read once: none changes. */
export class NamedBlocks {
  readonly #scopeId: number
  readonly #hashes = new Set<string>()
  #last = 0

  constructor(scopeId: number) {
    this.#scopeId = scopeId
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  /** Reads all that are stored. @throws {SnapshotStoreError} `corrupt` */
  async readAll(database: SqlDatabase, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      const row = await database.read((sql) => sql.get(NEXT, this.#scopeId, this.#last))
      if (row === undefined) return
      const bytes = fromBase64(row['bytes'])
      const { entries } = await readable(() => parseManifest(bytes))
      for (const hash of blocksOf(entries)) this.#hashes.add(hash)
      this.#last = Number(row['manifest_id'])
    }
  }

  /**
   * The hashes of those that were stored since; part of a transaction that has locked the scope, which
   * cannot wait for a parser.
   */
  since(sql: SqlStatements): ReadonlySet<string> {
    const hashes = new Set<string>()
    for (let last = this.#last; ;) {
      const row = sql.get(NEXT, this.#scopeId, last)
      if (row === undefined) return hashes
      for (const hash of hashesIn(fromBase64(row['bytes']))) hashes.add(hash)
      last = Number(row['manifest_id'])
    }
  }
}

function hashesIn(bytes: Uint8Array): readonly string[] {
  const text = new TextDecoder('latin1').decode(bytes)
  return Array.from(text.matchAll(HASHES), ([, hash = '']) => hash)
}

/** What the format rejects in a store was damaged there. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!SnapshotStoreError.isInstance(error)) throw error
    const detail = `a stored snapshot is damaged: ${error.message}`
    throw new SnapshotStoreError('corrupt', detail, { cause: error })
  }
}
