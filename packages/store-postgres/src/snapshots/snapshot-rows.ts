import { SnapshotStoreError } from '@helix-agents/core'
import { parseScope } from '@helix-agents/core/provider'
import { runTogether, SqlError, type SqlStatements } from '@helix-agents/store-sql'

/** Hashes that one statement compares. */
const HASHES_A_STATEMENT = 5000

/** Bytes on their way: they become `bytea` in the database, which sends texts. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** @throws {SnapshotStoreError} `corrupt` for a column of another type. */
export function fromBase64(value: unknown): Uint8Array {
  return Uint8Array.from(Buffer.from(textOf(value), 'base64'))
}

/** @throws {SnapshotStoreError} `corrupt` for a column of another type. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new SnapshotStoreError('corrupt', 'a column of a snapshot has another type')
}

/** A scope as its table has it, in hexadecimal. @throws {RangeError} for a scope that is none. */
export function nameOf(scope: string): string {
  return Buffer.from(parseScope(scope), 'utf8').toString('hex')
}

/** The id of a scope; 0, which none has, when nothing is stored of it. */
export function findScope(sql: SqlStatements, name: string): number {
  return idOf(sql, "SELECT scope_id FROM helix_snapshot_scopes WHERE name = decode(?, 'hex')", name)
}

const LOCK = "SELECT scope_id FROM helix_snapshot_scopes WHERE name = decode(?, 'hex') FOR UPDATE"
const MAKE =
  "INSERT INTO helix_snapshot_scopes (name) VALUES (decode(?, 'hex')) ON CONFLICT DO NOTHING"

/** Locks a scope until the transaction ends; 0 when nothing is stored of it. */
export function lockScope(sql: SqlStatements, name: string): number {
  return idOf(sql, LOCK, name)
}

/** As {@link lockScope}; a scope that is not there is made. */
export function makeScope(sql: SqlStatements, name: string): number {
  for (;;) {
    const scopeId = lockScope(sql, name)
    if (scopeId > 0) return scopeId
    // A sweep may delete the scope between both.
    sql.run(MAKE, name)
  }
}

/** Counts bytes that a scope has more, or less, than before. @returns its bytes. */
export function addBytes(sql: SqlStatements, scopeId: number, bytes: number): number {
  const add =
    'UPDATE helix_snapshot_scopes SET bytes = bytes + ? WHERE scope_id = ? RETURNING bytes'
  return Number(sql.get(add, bytes, scopeId)?.['bytes'])
}

const COUNT =
  'SELECT count(*) AS stored FROM helix_snapshot_blocks' +
  ' WHERE scope_id = ? AND hash IN (SELECT jsonb_array_elements_text(?::jsonb))'

/** How many of these blocks a scope has. */
export function countBlocks(
  sql: SqlStatements,
  scopeId: number,
  hashes: readonly string[],
): number {
  const starts = Array.from(
    { length: Math.ceil(hashes.length / HASHES_A_STATEMENT) },
    (_, part) => part * HASHES_A_STATEMENT,
  )
  const counts = runTogether(
    sql,
    starts.map((at) => () => {
      const part = JSON.stringify(hashes.slice(at, at + HASHES_A_STATEMENT))
      return Number(sql.get(COUNT, scopeId, part)?.['stored'])
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Runs calls of the database. @throws {SnapshotStoreError} */
export async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof SqlError)) throw cause
    const isFull = cause.kind === 'full' || cause.kind === 'too-large'
    const code = isFull ? 'storage-full' : cause.kind === 'corrupt' ? 'corrupt' : 'unavailable'
    const detail = `the database of snapshots failed (${cause.kind})`
    throw new SnapshotStoreError(code, detail, { cause })
  }
}

function idOf(sql: SqlStatements, statement: string, name: string): number {
  return Number(sql.get(statement, name)?.['scope_id'] ?? 0)
}
