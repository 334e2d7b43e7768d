import { HelixError, SnapshotStoreError } from '@helix-agents/core'
import { toSqlError } from '../to-sql-error.ts'

const VERSION = 1

/**
 * `bytes` is null for a block that is in the bucket under `object_key`. An object is in
 * `helix_snapshot_garbage` from before it is put until a block has it, and again once none has it: a
 * crash leaves none that no table names.
 */
const TABLES = [
  'CREATE TABLE helix_snapshot_schema (version INTEGER NOT NULL, store_id TEXT NOT NULL)',
  `CREATE TABLE helix_snapshot_scopes (
     scope_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sweeps INTEGER NOT NULL)`,
  `CREATE TABLE helix_snapshot_blocks (
     block_id INTEGER PRIMARY KEY, scope_id INTEGER NOT NULL, hash TEXT NOT NULL,
     size INTEGER NOT NULL, used_at INTEGER NOT NULL, bytes BLOB, object_key TEXT)`,
  'CREATE UNIQUE INDEX helix_snapshot_block_hashes ON helix_snapshot_blocks (scope_id, hash)',
  `CREATE TABLE helix_snapshot_manifests (
     manifest_id INTEGER PRIMARY KEY AUTOINCREMENT, scope_id INTEGER NOT NULL,
     snapshot_id TEXT NOT NULL, sort_key TEXT NOT NULL, header TEXT NOT NULL)`,
  `CREATE UNIQUE INDEX helix_snapshot_ids ON helix_snapshot_manifests (scope_id, snapshot_id)`,
  `CREATE INDEX helix_snapshot_ages ON helix_snapshot_manifests (scope_id, sort_key)`,
  `CREATE TABLE helix_snapshot_pieces (
     manifest_id INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL,
     PRIMARY KEY (manifest_id, piece)) WITHOUT ROWID`,
  'CREATE TABLE helix_snapshot_garbage (object_key TEXT PRIMARY KEY, since INTEGER NOT NULL)',
]

type Value = ArrayBuffer | Uint8Array | string | number | null
type Row = Record<string, SqlStorageValue>

/** The tables of snapshots in the database of an object; their first write makes them. */
export class SnapshotTables {
  readonly #storage: DurableObjectStorage
  #isReady = false

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  /** Runs `work` in one transaction. @throws {SnapshotStoreError} */
  write<T>(work: () => T): T {
    return translated(() => {
      if (!this.#find()) this.#make()
      return this.#storage.transactionSync(work)
    })
  }

  /** Rows; none where nothing was ever written. @throws {SnapshotStoreError} */
  all(statement: string, ...values: readonly Value[]): readonly Row[] {
    return translated(() => {
      if (!this.#isReady && !this.#find()) return []
      try {
        return this.#storage.sql.exec(statement, ...values).toArray()
      } catch (error) {
        // The storage of an object can be erased while the store is open.
        if (this.#find()) throw error
        return []
      }
    })
  }

  /** The first row. @throws {SnapshotStoreError} */
  get(statement: string, ...values: readonly Value[]): Row | undefined {
    return this.all(statement, ...values)[0]
  }

  /** Keys of objects of other stores in the same bucket do not begin with it. */
  storeId(): string {
    return textOf(this.get('SELECT store_id FROM helix_snapshot_schema')?.['store_id'])
  }

  #find(): boolean {
    const found = this.#storage.sql
      .exec("SELECT 1 FROM sqlite_master WHERE name = 'helix_snapshot_schema'")
      .toArray()
    if (found.length > 0 && !this.#isReady) this.#checkVersion()
    this.#isReady = found.length > 0
    return this.#isReady
  }

  #checkVersion(): void {
    const [row] = this.#storage.sql.exec('SELECT version FROM helix_snapshot_schema').toArray()
    if (row?.['version'] === VERSION) return
    throw new SnapshotStoreError(
      'unavailable',
      `the tables of snapshots have version ${Number(row?.['version'])}; this release reads ${VERSION}`,
    )
  }

  #make(): void {
    this.#storage.transactionSync(() => {
      for (const statement of TABLES) this.#storage.sql.exec(statement)
      const storeId = crypto.randomUUID()
      this.#storage.sql.exec('INSERT INTO helix_snapshot_schema VALUES (?, ?)', VERSION, storeId)
    })
    this.#isReady = true
  }
}

function translated<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (HelixError.isInstance(error)) throw error
    const { kind } = toSqlError(error)
    const code = kind === 'full' ? 'storage-full' : kind === 'corrupt' ? 'corrupt' : 'unavailable'
    throw new SnapshotStoreError(code, 'the database of snapshots failed', { cause: error })
  }
}

/** The value of a column of type TEXT. */
export function textOf(value: SqlStorageValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
