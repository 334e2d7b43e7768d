import { numberOf, textOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { NamespaceOwner } from './namespace-key.ts'

/** A set of files in the database of an object. */
export interface Namespace {
  readonly id: number
  /** Random, so that no two namespaces of any two objects have one. */
  readonly publicId: string
  /** JSON of the session id it belongs to; undefined when it is shared. */
  readonly session: string | undefined
  readonly createdMs: number
}

const COLUMNS = 'id, public_id, session, created_ms'

export function findNamespace(database: Database, publicId: string): Namespace | undefined {
  const row = database.get(
    `SELECT ${COLUMNS} FROM helix_fs_namespaces WHERE public_id = ?`,
    publicId,
  )
  return row === undefined ? undefined : toNamespace(row)
}

/** The namespace of an owner; made when there is none. */
export function openNamespace(
  database: Database,
  owner: NamespaceOwner,
  nowMs: number,
): { readonly namespace: Namespace; readonly isNew: boolean } {
  return database.transaction(() => {
    const row = database.get(`SELECT ${COLUMNS} FROM helix_fs_namespaces WHERE key = ?`, owner.key)
    if (row !== undefined) return { namespace: toNamespace(row), isNew: false }
    const [made] = database.all(
      `INSERT INTO helix_fs_namespaces (id, public_id, key, session, created_ms)
        VALUES (?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
      randomRow(),
      randomId(),
      owner.key,
      owner.sessionId === undefined ? null : sessionMark(owner.sessionId),
      nowMs,
    )
    return { namespace: toNamespace(made ?? {}), isNew: true }
  })
}

export function allNamespaces(database: Database): Namespace[] {
  return database.all(`SELECT ${COLUMNS} FROM helix_fs_namespaces ORDER BY id`).map(toNamespace)
}

/** Whether a session may use the namespace. */
export function belongsTo(namespace: Namespace, sessionId: string): boolean {
  return namespace.session === undefined || namespace.session === sessionMark(sessionId)
}

/** SQLite text cannot hold half a surrogate pair; its JSON can. */
function sessionMark(sessionId: string): string {
  return JSON.stringify(sessionId)
}

function toNamespace(row: FileStoreSqlRow): Namespace {
  return {
    id: numberOf(row, 'id'),
    publicId: textOf(row, 'public_id'),
    session: row.session === null ? undefined : textOf(row, 'session'),
    createdMs: numberOf(row, 'created_ms'),
  }
}

/**
 * Random, not counted: a handle on files that were dropped with the whole storage must not resolve to
 * those of another namespace that is made after that.
 */
function randomRow(): number {
  return new DataView(crypto.getRandomValues(new Uint8Array(4)).buffer).getUint32(0) >>> 1
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `fs-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
