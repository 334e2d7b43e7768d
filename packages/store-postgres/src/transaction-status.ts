import { SqlError, type SqlStatements } from '@helix-agents/store-sql'
import type { TransactionIdentity } from './transaction.ts'

/** `unknown`: the server cannot tell. */
export type TransactionStatus = 'committed' | 'aborted' | 'in progress' | 'unknown'

/**
 * A server that crashed counts on from the last id that its log has, so that it may give the id of a
 * lost transaction to another one. The checkpoint that ends its recovery holds the id from which on.
 */
const STATUS =
  'SELECT pg_xact_status(?::xid8) AS status,' +
  " (split_part(next_xid, ':', 1)::numeric * 4294967296 + split_part(next_xid, ':', 2)::numeric" +
  ' > ?::text::numeric)::int AS is_passed,' +
  ' extract(epoch FROM checkpoint_time)::float8 AS checkpoint_at FROM pg_control_checkpoint()'
/** `pg_xact_status` of an id that the server has not given out: its crash took the transaction back. */
const NOT_GIVEN = '22023'
/** The time of a checkpoint is in whole seconds. */
const RESOLUTION_S = 1

/**
 * How a transaction ended whose commit had no answer. See the PostgreSQL manual on `pg_xact_status`.
 * @throws {SqlError}
 */
export async function transactionStatus(
  read: <T>(work: (sql: SqlStatements) => T) => Promise<T>,
  { xid, at }: TransactionIdentity,
): Promise<TransactionStatus> {
  try {
    const row = await read((sql) => sql.get(STATUS, xid, xid))
    const status = toStatus(row?.['status'])
    const checkpointAt = Number(row?.['checkpoint_at'])
    if (status !== 'committed' || row?.['is_passed'] === 1) return status
    if (checkpointAt < at - RESOLUTION_S) return status
    return checkpointAt > at ? 'aborted' : 'unknown'
  } catch (error) {
    if (isNotGiven(error)) return 'aborted'
    throw error
  }
}

function toStatus(found: unknown): TransactionStatus {
  return found === 'committed' || found === 'aborted' || found === 'in progress' ? found : 'unknown'
}

function isNotGiven(error: unknown): boolean {
  const cause = error instanceof SqlError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === NOT_GIVEN
}
