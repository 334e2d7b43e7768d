import { HelixError } from '@helix-agents/core'
import { SqlError, type SqlErrorKind, toStateStoreError } from '@helix-agents/store-sql'

/** By the name of the result code of SQLite, which the runtime adds to its messages. */
const KINDS: ReadonlyMap<string, SqlErrorKind> = new Map(
  Object.entries<SqlErrorKind>({
    SQLITE_BUSY: 'busy',
    SQLITE_LOCKED: 'busy',
    SQLITE_FULL: 'full',
    SQLITE_READONLY: 'read-only',
    SQLITE_CORRUPT: 'corrupt',
    SQLITE_NOTADB: 'corrupt',
    SQLITE_IOERR: 'io',
    SQLITE_CANTOPEN: 'io',
  }),
)

/** What a statement of a Durable Object threw, as the port has it. */
export function toSqlError(error: unknown): SqlError {
  if (error instanceof SqlError) return error
  const message = error instanceof Error ? error.message : String(error)
  const [code = ''] = /SQLITE_[A-Z]+/.exec(message) ?? []
  return new SqlError(KINDS.get(code) ?? 'failed', message, { cause: error })
}

/**
 * What the storage of a Durable Object threw, past the stores (`kv`, alarms), as the stores throw
 * it: a `StateStoreError`, `unavailable` when it is full. Other errors of Helix stay what they are.
 */
export function toStorageError(error: unknown, sessionId = ''): unknown {
  if (HelixError.isInstance(error)) return error
  return toStateStoreError(toSqlError(error), sessionId)
}

/** Whether SQLite failed, and not the work that used it. */
export function isSqliteError(error: unknown): boolean {
  return (
    error instanceof Error && !HelixError.isInstance(error) && /SQLITE_[A-Z]+/.test(error.message)
  )
}
