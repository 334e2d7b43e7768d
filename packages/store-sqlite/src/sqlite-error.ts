import { SqlError, type SqlErrorKind } from '@helix-agents/store-sql'

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html */
const KINDS: Readonly<Record<number, SqlErrorKind>> = {
  3: 'read-only', // SQLITE_PERM
  5: 'busy', // SQLITE_BUSY
  6: 'busy', // SQLITE_LOCKED
  8: 'read-only', // SQLITE_READONLY
  10: 'io', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'io', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
}

/** What a statement of `node:sqlite` threw, as the port names it. */
export function toSqlError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('code' in cause)) return cause
  // A column holds an integer that no number can: nothing here writes such.
  if (cause.code === 'ERR_OUT_OF_RANGE') return new SqlError('corrupt', cause.message, { cause })
  if (cause.code !== 'ERR_SQLITE_ERROR') return cause
  const code = 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : 0
  return new SqlError(KINDS[code % 256] ?? 'failed', cause.message, { cause })
}
