import { SqlError, type SqlErrorKind } from '@helix-agents/store-sql'

/** SQLSTATE, whole or its class, https://www.postgresql.org/docs/current/errcodes-appendix.html */
const KINDS: ReadonlyMap<string, SqlErrorKind> = new Map(
  Object.entries<SqlErrorKind>({
    '08': 'unreachable', // connection_exception
    '25006': 'read-only', // read_only_sql_transaction
    '25P03': 'unreachable', // idle_in_transaction_session_timeout
    '28': 'denied', // invalid_authorization_specification
    '40001': 'busy', // serialization_failure
    '40P01': 'busy', // deadlock_detected
    '42501': 'denied', // insufficient_privilege
    '53100': 'full', // disk_full
    '53200': 'full', // out_of_memory
    '53300': 'unreachable', // too_many_connections
    '54000': 'too-large', // program_limit_exceeded: a key of an index
    '55P03': 'busy', // lock_not_available
    '57014': 'timeout', // query_canceled: statement_timeout
    '57P': 'unreachable', // the server shuts down, crashed or starts
    '58': 'io', // system_error
    XX001: 'corrupt', // data_corrupted
    XX002: 'corrupt', // index_corrupted
  }),
)

/** How many characters of a code may name its kind, the most first. */
const LENGTHS = [5, 3, 2]

/** Codes of the network and of name resolution, by Node. */
const NETWORK =
  /^(ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOTFOUND$|EAI_|ENOENT$|EACCES$|EADDR|ERR_SOCKET|ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

/** What `pg` says without a code when its connection was lost or never made. */
const LOST =
  /connection terminated|not queryable|connection error|timeout exceeded when trying to connect|timeout expired|read timeout|does not support SSL|establishing an SSL/i

/**
 * A later release added a column after this connection had prepared its statement, which the server then
 * rejects for good: another connection prepares it again.
 */
const STALE_PLAN = 'RevalidateCachedQuery'

/** What a connection or a statement threw, as the port names it. */
export function toSqlError(cause: unknown): unknown {
  if (cause instanceof SqlError || !(cause instanceof Error)) return cause
  const isStale = 'routine' in cause && cause.routine === STALE_PLAN
  const kind = isStale ? 'unreachable' : kindOf(cause)
  return kind === undefined ? cause : new SqlError(kind, cause.message, { cause })
}

function kindOf(error: Error): SqlErrorKind | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (NETWORK.test(code)) return 'unreachable'
  if (/^[0-9A-Z]{5}$/.test(code)) {
    const known = LENGTHS.map((length) => KINDS.get(code.slice(0, length)))
    return known.find((kind) => kind !== undefined) ?? 'failed'
  }
  // Node tries each address of a host.
  if (LOST.test(error.message) || error instanceof AggregateError) return 'unreachable'
  return /password/i.test(error.message) ? 'denied' : undefined
}
