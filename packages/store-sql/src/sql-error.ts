/**
 * Why a database failed. `busy`: another connection held the lock for too long. `full`: no space
 * left. `read-only`: the file cannot be written. `corrupt`: its pages cannot be read, or it is no
 * database. `io`: the disk failed. `moved`: the file is not where it was opened. `closed`: the
 * connection was closed. `unreachable`: the server did not answer. `denied`: the server does not let
 * the user in, or not do this. `timeout`: a statement took too long. `too-large`: a value is larger
 * than the database takes. `failed`: anything else.
 */
export type SqlErrorKind =
  | 'busy'
  | 'full'
  | 'read-only'
  | 'corrupt'
  | 'io'
  | 'moved'
  | 'closed'
  | 'unreachable'
  | 'denied'
  | 'timeout'
  | 'too-large'
  | 'failed'

/** A statement or a transaction failed; nothing of its transaction is stored. */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly kind: SqlErrorKind

  constructor(kind: SqlErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
