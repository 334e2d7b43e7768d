import type {
  FileStoreBucket,
  FileStoreStorage,
  FileStoreSqlBinding,
  FileStoreSqlValue,
} from '@helix-agents/workspace-cloudflare-filestore'

const MAX_VALUE_BYTES = 2_000_000
const MAX_BINDINGS = 100
const MAX_STATEMENT_BYTES = 100_000
const MAX_KEY_BYTES = 1024
const MAX_KEYS_OF_DELETE = 1000
/** One key takes one write a second. */
const KEY_PAUSE_MS = 1000

const encoder = new TextEncoder()

function bytesIn(value: FileStoreSqlBinding): number {
  if (typeof value === 'string') return encoder.encode(value).length
  return value === null || typeof value === 'number' ? 8 : value.byteLength
}

function assertAtMost(what: string, size: number, limit: number): void {
  if (size > limit) throw new Error(`${what}: ${size}, in production at most ${limit}`)
}

function checkRow(row: Readonly<Record<string, FileStoreSqlValue>>): void {
  const bytes = Object.values(row).reduce<number>((sum, value) => sum + bytesIn(value), 0)
  assertAtMost('bytes of a row', bytes, MAX_VALUE_BYTES)
}

function checkKey(key: string): void {
  assertAtMost('bytes of a key', bytesIn(key), MAX_KEY_BYTES)
}

/** A database that keeps the limits of production; local workerd does not know most of them. */
export function strictStorage(storage: FileStoreStorage): FileStoreStorage {
  return {
    sql: {
      exec: (statement: string, ...bindings: FileStoreSqlBinding[]) => {
        assertAtMost('bytes of a statement', bytesIn(statement), MAX_STATEMENT_BYTES)
        assertAtMost('bound parameters', bindings.length, MAX_BINDINGS)
        for (const value of bindings) assertAtMost('bound bytes', bytesIn(value), MAX_VALUE_BYTES)
        const rows = storage.sql.exec(statement, ...bindings).toArray()
        for (const row of rows) checkRow(row)
        return { toArray: () => rows }
      },
    },
    transactionSync: (work) => storage.transactionSync(work),
  }
}

/** Rows of the tables that are larger than production stores. */
export function rowsTooLarge(storage: FileStoreStorage): unknown[] {
  return storage.sql
    .exec(
      `SELECT id FROM helix_fs_blocks WHERE coalesce(length(data), 0) + 100 > ${MAX_VALUE_BYTES}
       UNION ALL SELECT version FROM helix_fs_nodes WHERE
         length(CAST(directory AS BLOB)) + length(CAST(name AS BLOB)) + 100 > ${MAX_VALUE_BYTES}`,
    )
    .toArray()
}

/** A bucket that keeps the limits of production. */
export function strictBucket(bucket: FileStoreBucket, now: () => number): FileStoreBucket {
  const putAt = new Map<string, number>()
  return {
    head: (key) => bucket.head(key),
    get: (key, options) => bucket.get(key, options),
    put: async (key, value, options) => {
      checkKey(key)
      const before = putAt.get(key)
      putAt.set(key, now())
      if (before !== undefined && now() - before < KEY_PAUSE_MS) {
        throw new Error(`put twice within a second: ${key} (10058)`)
      }
      return bucket.put(key, value, options)
    },
    delete: async (keys) => {
      assertAtMost('keys of a delete', keys.length, MAX_KEYS_OF_DELETE)
      keys.forEach(checkKey)
      return bucket.delete(keys)
    },
  }
}
