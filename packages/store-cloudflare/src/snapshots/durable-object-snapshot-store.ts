import { type Clock, SnapshotStoreError, systemClock } from '@helix-agents/core'
import {
  blocksOf,
  checkBlock,
  checkSnapshotBlocks,
  createTimeSlice,
  encodeManifest,
  pageOf,
  parseScope,
  SNAPSHOT_GRACE_MS,
  type SnapshotBlock,
  type SnapshotHeader,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  sortByCodePoint,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import { BlockObjects, type SnapshotBucket } from './block-objects.ts'
import { SnapshotTables, textOf } from './snapshot-tables.ts'
import { StoredManifests } from './stored-manifests.ts'
import { sweepBlocks } from './sweep-blocks.ts'

const DEFAULT_INLINE_BYTES = 128 * 1024
/** Hashes that one statement looks for. */
const HASHES_A_STATEMENT = 2000
/** Clocks of Workers stand still: so many blocks are read in a turn as take about 10 ms. */
const CHECKS_A_BLOCK = 32

/** Options of {@link DOSnapshotStore}. */
export interface DOSnapshotStoreOptions {
  /** Holds large blocks. Default: none, all are in the database of the object. */
  readonly bucket?: SnapshotBucket
  /** Blocks of more bytes go into the bucket. Default: 128 KiB. */
  readonly inlineBytes?: number
  /** Default: the time of the machine. */
  readonly clock?: Clock
}

/**
 * Snapshots in the SQLite of a Durable Object, large blocks in R2. An object of the bucket is put
 * before a row names it, and deleted after none does.
 */
export class DOSnapshotStore implements SnapshotStore {
  readonly #tables: SnapshotTables
  readonly #manifests: StoredManifests
  readonly #objects: BlockObjects | undefined
  readonly #inlineBytes: number
  readonly #clock: Clock

  constructor(storage: DurableObjectStorage, options: DOSnapshotStoreOptions = {}) {
    const { bucket, inlineBytes = DEFAULT_INLINE_BYTES, clock = systemClock } = options
    this.#tables = new SnapshotTables(storage)
    this.#manifests = new StoredManifests(this.#tables)
    this.#objects = bucket && new BlockObjects(bucket, this.#tables, clock)
    this.#inlineBytes = inlineBytes
    this.#clock = clock
  }

  async putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    parseScope(scope)
    await checkSnapshotBlocks(blocks)
    const hashes = blocks.map(({ hash }) => hash)
    const there = await this.findBlocks(scope, hashes)
    const missing = blocks.filter(({ hash }) => !there.has(hash))
    const keys = await Promise.all(missing.map((block) => this.#putObject(block)))
    this.#tables.write(() => {
      const scopeId = this.#makeScope(scope)
      for (const [index, block] of missing.entries()) this.#insert(scopeId, block, keys[index])
    })
  }

  async findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const scopeId = this.#scopeId(scope)
    const found = this.#tables.all(
      `UPDATE helix_snapshot_blocks SET used_at = ?
       WHERE scope_id = ? AND hash IN (SELECT value FROM json_each(?)) RETURNING hash`,
      this.#clock.now(),
      scopeId,
      JSON.stringify(hashes),
    )
    return new Set(found.map(({ hash }) => textOf(hash)))
  }

  async getBlocks(
    scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const scopeId = this.#scopeId(scope)
    const found = new Map<string, Uint8Array>()
    const slice = createTimeSlice()
    for (const hash of hashes) {
      if (slice.dueAfter(CHECKS_A_BLOCK)) await slice.pause()
      const row = this.#tables.get(
        'SELECT bytes, object_key FROM helix_snapshot_blocks WHERE scope_id = ? AND hash = ?',
        scopeId,
        hash,
      )
      if (row === undefined) continue
      const bytes = await this.#read(row['bytes'], row['object_key'])
      await checkBlock({ hash, bytes })
      found.set(hash, bytes)
    }
    return found
  }

  async putManifest(scope: string, manifest: SnapshotManifest): Promise<void> {
    parseScope(scope)
    const encoded = await encodeManifest(manifest)
    const hashes = [...blocksOf(manifest.entries)]
    for (;;) {
      const { sweeps, scopeId } = this.#tables.write(() => {
        const id = this.#makeScope(scope)
        return { scopeId: id, sweeps: this.#sweeps(id) }
      })
      await this.#checkStored(scopeId, hashes)
      const isStored = this.#tables.write(() => {
        // A sweep may have freed what was found before it.
        if (this.#sweeps(scopeId) !== sweeps) return false
        this.#manifests.insert(scopeId, manifest.header, encoded)
        return true
      })
      if (isStored) return
    }
  }

  async getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest> {
    return this.#manifests.read(this.#scopeId(scope), snapshotId)
  }

  async listManifests(
    scope: string,
    query: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    return this.#manifests.list(this.#scopeId(scope), query)
  }

  async deleteManifest(scope: string, snapshotId: string): Promise<boolean> {
    const scopeId = this.#scopeId(scope)
    return scopeId > 0 && this.#tables.write(() => this.#manifests.delete(scopeId, snapshotId))
  }

  async listScopes(query: SnapshotPageQuery = {}): Promise<SnapshotPage<string>> {
    const rows = this.#tables.all(
      `SELECT name FROM helix_snapshot_scopes AS scopes
       WHERE EXISTS (SELECT 1 FROM helix_snapshot_blocks WHERE scope_id = scopes.scope_id)
          OR EXISTS (SELECT 1 FROM helix_snapshot_manifests WHERE scope_id = scopes.scope_id)`,
    )
    const names = rows.map(({ name }) => String(JSON.parse(textOf(name))))
    const sorted = await sortByCodePoint(names, String)
    return pageOf(sorted, { keyOf: String, newestFirst: false }, query)
  }

  async sweep(scope: string, options: SweepOptions = {}): Promise<SweepResult> {
    const scopeId = this.#scopeId(scope)
    const { graceMs = SNAPSHOT_GRACE_MS, signal } = options
    const untilMs = this.#clock.now() - graceMs
    const place = { tables: this.#tables, manifests: this.#manifests, scopeId }
    const swept = await sweepBlocks(place, untilMs, signal)
    await this.#objects?.collect(untilMs)
    return swept
  }

  /** The key of the object, or undefined for a block that is kept in the database. */
  async #putObject(block: SnapshotBlock): Promise<string | undefined> {
    if (block.bytes.length <= this.#inlineBytes) return undefined
    return this.#objects?.put(block)
  }

  #insert(scopeId: number, { hash, bytes }: SnapshotBlock, key: string | undefined): void {
    const inserted = this.#tables.get(
      `INSERT INTO helix_snapshot_blocks (scope_id, hash, size, used_at, bytes, object_key)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1`,
      scopeId,
      hash,
      bytes.length,
      this.#clock.now(),
      key === undefined ? bytes.slice() : null,
      key ?? null,
    )
    // Another call was first: the object stays garbage.
    if (key !== undefined && inserted !== undefined) this.#objects?.keep(key)
  }

  async #read(bytes: unknown, key: unknown): Promise<Uint8Array> {
    if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes)
    if (typeof key === 'string' && this.#objects !== undefined) return this.#objects.read(key)
    throw new SnapshotStoreError('unavailable', 'a block is in a bucket, and the store has none')
  }

  /** @throws {SnapshotStoreError} `missing-blocks` */
  async #checkStored(scopeId: number, hashes: readonly string[]): Promise<void> {
    const slice = createTimeSlice()
    for (let at = 0; at < hashes.length; at += HASHES_A_STATEMENT) {
      const part = hashes.slice(at, at + HASHES_A_STATEMENT)
      const row = this.#tables.get(
        `SELECT count(*) AS stored FROM helix_snapshot_blocks
         WHERE scope_id = ? AND hash IN (SELECT value FROM json_each(?))`,
        scopeId,
        JSON.stringify(part),
      )
      if (row?.['stored'] !== part.length) {
        throw new SnapshotStoreError('missing-blocks', 'blocks of the snapshot are not stored')
      }
      if (slice.dueAfter(part.length)) await slice.pause()
    }
  }

  #sweeps(scopeId: number): number {
    const statement = 'SELECT sweeps FROM helix_snapshot_scopes WHERE scope_id = ?'
    return Number(this.#tables.get(statement, scopeId)?.['sweeps'])
  }

  /** 0, which no scope has, when nothing is stored of it. */
  #scopeId(scope: string): number {
    const statement = 'SELECT scope_id FROM helix_snapshot_scopes WHERE name = ?'
    return Number(this.#tables.get(statement, nameOf(scope))?.['scope_id'] ?? 0)
  }

  #makeScope(scope: string): number {
    const insert =
      'INSERT INTO helix_snapshot_scopes (name, sweeps) VALUES (?, 0) ON CONFLICT DO NOTHING'
    this.#tables.all(insert, nameOf(scope))
    return this.#scopeId(scope)
  }
}

/** As JSON: a text of the database ends at a NUL. */
function nameOf(scope: string): string {
  return JSON.stringify(parseScope(scope))
}
