import { numberOf, textOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import type { NamespaceOwner } from './namespace-key.ts'

/**
 * What a namespace is for: a `snapshot` never changes, a `kept` one stays until it is removed, and a
 * `fork` belongs to the first session that opens it.
 */
export type NamespaceKind = 'workspace' | 'snapshot' | 'kept' | 'fork'

/** A set of files in the database of an object. */
export interface Namespace {
  readonly id: number
  /** Random, so that no two namespaces of any two objects have one. */
  readonly publicId: string
  readonly kind: NamespaceKind
  /** Public id of the namespace that was opened first, of all that were restored from it. */
  readonly line: string
  /** JSON of the session id it belongs to; undefined when it is shared. */
  readonly session: string | undefined
  readonly createdMs: number
}

/** A namespace to be added, and the version of the tables then. */
type NewNamespace = Omit<Namespace, 'id'> & { readonly version: number }

const COLUMNS = 'id, public_id, kind, line, session, created_ms'

const ADD = `INSERT INTO helix_fs_namespaces (id, public_id, key, kind, line, session, created_ms, version)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`

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
    const session = owner.sessionId === undefined ? undefined : sessionMark(owner.sessionId)
    const id = randomId()
    const made = { publicId: id, kind: 'workspace', line: id, session } as const
    const first = { ...made, createdMs: nowMs, version: 0 }
    return { namespace: addNamespace(database, first, owner.key), isNew: true }
  })
}

/** Adds a namespace without files that no declaration asks for by name. */
export function addToLine(database: Database, made: Omit<NewNamespace, 'publicId'>): Namespace {
  const publicId = randomId()
  return addNamespace(database, { ...made, publicId }, JSON.stringify([made.kind, publicId]))
}

/** Lets a fork belong to the session that opens it. */
export function claimFork(database: Database, fork: Namespace, sessionId: string): Namespace {
  const session = sessionMark(sessionId)
  database.run(
    "UPDATE helix_fs_namespaces SET kind = 'workspace', session = ? WHERE id = ?",
    session,
    fork.id,
  )
  return { ...fork, kind: 'workspace', session }
}

/** The namespaces of a line, the oldest first. */
export function namespacesOf(
  database: Database,
  line: string,
): readonly (Namespace & { readonly bytes: number })[] {
  const rows = database.all(
    `SELECT ${COLUMNS}, bytes FROM helix_fs_namespaces WHERE line = ? ORDER BY version`,
    line,
  )
  return rows.map((row) => ({ ...toNamespace(row), bytes: numberOf(row, 'bytes') }))
}

/** The namespaces that only one session may use. */
export function namespacesOfSession(database: Database, sessionId: string): Namespace[] {
  const sql = `SELECT ${COLUMNS} FROM helix_fs_namespaces WHERE session = ? ORDER BY version`
  return database.all(sql, sessionMark(sessionId)).map(toNamespace)
}

/** Whether it is a snapshot, of whichever kind. */
export function isSnapshot({ kind }: Namespace): boolean {
  return kind === 'snapshot' || kind === 'kept'
}

export function allNamespaces(database: Database): Namespace[] {
  return database.all(`SELECT ${COLUMNS} FROM helix_fs_namespaces ORDER BY id`).map(toNamespace)
}

/** Whether a session may use the namespace. */
export function belongsTo(namespace: Namespace, sessionId: string): boolean {
  return namespace.session === undefined || namespace.session === sessionMark(sessionId)
}

/** SQLite text cannot hold half a surrogate pair; its JSON can. */
export function sessionMark(sessionId: string): string {
  return JSON.stringify(sessionId)
}

function addNamespace(database: Database, made: NewNamespace, key: string): Namespace {
  const { publicId, kind, line, session = null, createdMs, version } = made
  const values = [randomRow(), publicId, key, kind, line, session, createdMs, version]
  const [row] = database.all(ADD, ...values)
  return toNamespace(row ?? {})
}

function kindOf(kind: string): NamespaceKind {
  return kind === 'snapshot' || kind === 'kept' || kind === 'fork' ? kind : 'workspace'
}

function toNamespace(row: FileStoreSqlRow): Namespace {
  return {
    id: numberOf(row, 'id'),
    publicId: textOf(row, 'public_id'),
    kind: kindOf(textOf(row, 'kind')),
    line: textOf(row, 'line'),
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
