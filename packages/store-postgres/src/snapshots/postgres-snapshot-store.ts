import { type Clock, SnapshotStoreError } from '@helix-agents/core'
import {
  blocksOf,
  checkBlock,
  checkSnapshotBlocks,
  encodeManifest,
  isBlockHash,
  pageLimit,
  SNAPSHOT_GRACE_MS,
  type SnapshotBlock,
  type SnapshotHeader,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import { runTogether, type SqlDatabase, type SqlStatements } from '@helix-agents/store-sql'
import { insertManifest, listHeaders, readManifest, removeManifest } from './snapshot-manifests.ts'
import {
  addBytes,
  countBlocks,
  findScope,
  fromBase64,
  lockScope,
  makeScope,
  nameOf,
  stored,
  textOf,
  toBase64,
} from './snapshot-rows.ts'
import { sweepBlocks } from './sweep-blocks.ts'

const GIBIBYTE = 1024 ** 3

/** What is stored again keeps its bytes. */
const PUT =
  'INSERT INTO helix_snapshot_blocks AS block (scope_id, hash, size, used_at, bytes)' +
  " VALUES (?, ?, ?, ?, decode(?, 'base64'))" +
  ' ON CONFLICT (scope_id, hash) DO UPDATE SET used_at = greatest(block.used_at, excluded.used_at)' +
  ' RETURNING (xmax = 0)::int AS is_new'
/** Locks in one order: two callers that find the same blocks do not wait for each other. */
const FIND =
  'UPDATE helix_snapshot_blocks AS block SET used_at = greatest(block.used_at, ?)' +
  ' FROM (SELECT scope_id, hash FROM helix_snapshot_blocks' +
  ' WHERE scope_id = ? AND hash IN (SELECT jsonb_array_elements_text(?::jsonb))' +
  ' ORDER BY hash FOR NO KEY UPDATE) AS found' +
  ' WHERE block.scope_id = found.scope_id AND block.hash = found.hash RETURNING block.hash'
const GET =
  "SELECT hash, encode(bytes, 'base64') AS bytes FROM helix_snapshot_blocks" +
  ' WHERE scope_id = ? AND hash IN (SELECT jsonb_array_elements_text(?::jsonb))'
const SCOPES =
  "SELECT encode(name, 'hex') AS name FROM helix_snapshot_scopes AS scope" +
  " WHERE name > decode(?, 'hex')" +
  ' AND (EXISTS (SELECT 1 FROM helix_snapshot_blocks WHERE scope_id = scope.scope_id)' +
  ' OR EXISTS (SELECT 1 FROM helix_snapshot_manifests WHERE scope_id = scope.scope_id))' +
  ' ORDER BY name LIMIT ?'

/** How much a {@link PostgresSnapshotStore} stores. */
export interface PostgresSnapshotOptions {
  /**
   * Bytes of the blocks and manifests of one scope, such as a session; more is `storage-full`.
   * Default: 1 GiB.
   */
  readonly maxScopeBytes?: number
}

/**
 * Snapshots in a PostgreSQL database, for any number of processes and machines. Equal contents of a
 * scope are one row. `openPostgresStores` makes one, and its tables.
 */
export class PostgresSnapshotStore implements SnapshotStore {
  readonly #database: SqlDatabase
  readonly #clock: Clock
  readonly #maxScopeBytes: number

  /**
   * @param clock for a database whose leases go by the time of the caller; else that of the server.
   * @throws {RangeError} for a limit that is no positive number.
   */
  constructor(
    database: SqlDatabase,
    clock: Clock,
    { maxScopeBytes = GIBIBYTE }: PostgresSnapshotOptions = {},
  ) {
    if (!(maxScopeBytes > 0)) throw new RangeError('maxScopeBytes must be a positive number')
    this.#database = database
    this.#clock = clock
    this.#maxScopeBytes = maxScopeBytes
  }

  async putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    const name = nameOf(scope)
    await checkSnapshotBlocks(blocks)
    const byHash = new Map(blocks.map((block) => [block.hash, block]))
    const rows = Array.from(byHash.values(), ({ hash, bytes }) => {
      return { hash, size: bytes.length, text: toBase64(bytes) }
    })
    await this.#write((sql) => {
      const scopeId = makeScope(sql, name)
      const now = this.#now(sql)
      const added = runTogether(
        sql,
        rows.map(({ hash, size, text }) => () => {
          return sql.get(PUT, scopeId, hash, size, now, text)?.['is_new'] === 1 ? size : 0
        }),
      )
      this.#add(sql, scopeId, sum(added))
    })
  }

  async findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const name = nameOf(scope)
    const wanted = hashes.filter(isBlockHash)
    if (wanted.length === 0) return new Set()
    const rows = await this.#write((sql) =>
      sql.all(FIND, this.#now(sql), findScope(sql, name), JSON.stringify(wanted)),
    )
    return new Set(rows.map(({ hash }) => textOf(hash)))
  }

  async getBlocks(
    scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const name = nameOf(scope)
    const wanted = JSON.stringify(hashes.filter(isBlockHash))
    const rows = await stored(() =>
      this.#database.read((sql) => sql.all(GET, findScope(sql, name), wanted)),
    )
    const found = new Map<string, Uint8Array>()
    for (const row of rows) {
      const block = { hash: textOf(row['hash']), bytes: fromBase64(row['bytes']) }
      await checkBlock(block)
      found.set(block.hash, block.bytes)
    }
    return found
  }

  async putManifest(scope: string, manifest: SnapshotManifest): Promise<void> {
    const name = nameOf(scope)
    const bytes = await encodeManifest(manifest)
    const encoded = toBase64(bytes)
    const hashes = [...blocksOf(manifest.entries)]
    await this.#write((sql) => {
      const scopeId = makeScope(sql, name)
      insertManifest(sql, scopeId, { header: manifest.header, encoded })
      if (countBlocks(sql, scopeId, hashes) < hashes.length) {
        throw new SnapshotStoreError('missing-blocks', 'blocks of the snapshot are not stored')
      }
      this.#add(sql, scopeId, bytes.length)
    })
  }

  async getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest> {
    const name = nameOf(scope)
    return stored(() => readManifest(this.#database, name, snapshotId))
  }

  async listManifests(
    scope: string,
    query: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    const name = nameOf(scope)
    return stored(() => listHeaders(this.#database, name, query))
  }

  async deleteManifest(scope: string, snapshotId: string): Promise<boolean> {
    const name = nameOf(scope)
    return this.#write((sql) => {
      const scopeId = lockScope(sql, name)
      const bytes = removeManifest(sql, scopeId, snapshotId)
      if (bytes !== undefined) addBytes(sql, scopeId, -bytes)
      return bytes !== undefined
    })
  }

  async listScopes(query: SnapshotPageQuery = {}): Promise<SnapshotPage<string>> {
    const limit = pageLimit(query)
    const after = Buffer.from(query.after ?? '', 'utf8').toString('hex')
    const rows = await stored(() => this.#database.read((sql) => sql.all(SCOPES, after, limit + 1)))
    const names = rows.map(({ name }) => Buffer.from(textOf(name), 'hex').toString('utf8'))
    const items = names.slice(0, limit)
    const next = names.length > limit ? items.at(-1) : undefined
    return { items, ...(next !== undefined && { next }) }
  }

  async sweep(scope: string, options: SweepOptions = {}): Promise<SweepResult> {
    const { graceMs = SNAPSHOT_GRACE_MS, signal } = options
    const name = nameOf(scope)
    const until = (sql: SqlStatements): number => this.#now(sql) - graceMs
    return stored(() => sweepBlocks({ database: this.#database, name, until, signal }))
  }

  #write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    return stored(() => this.#database.write(work))
  }

  #now(sql: SqlStatements): number {
    return sql.server?.now() ?? this.#clock.now()
  }

  /** @throws {SnapshotStoreError} `storage-full` */
  #add(sql: SqlStatements, scopeId: number, bytes: number): void {
    if (bytes === 0 || addBytes(sql, scopeId, bytes) <= this.#maxScopeBytes) return
    const problem = `the store holds at most ${this.#maxScopeBytes} bytes of a scope`
    throw new SnapshotStoreError('storage-full', problem)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
