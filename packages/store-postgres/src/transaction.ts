import { SqlError, type SqlStatements } from '@helix-agents/store-sql'
import { allOf, type Connection } from './connections.ts'
import type { PostgresSettings } from './postgres-options.ts'
import { type Asked, type Notified, Replay } from './replay.ts'

/**
 * A machine that freezes in a transaction holds its rows for so long, which is less than any lease: who
 * takes its sessions over does not wait for them.
 */
const IDLE_MS = 2000

const XID: string =
  'SELECT pg_current_xact_id()::text AS xid, extract(epoch FROM clock_timestamp())::float8 AS at'

/** A transaction whose end is not known: the connection was lost while it was committed. */
export class UnknownCommit extends Error {
  readonly transaction: TransactionIdentity
  readonly result: Committed<unknown>

  constructor(transaction: TransactionIdentity, result: Committed<unknown>, cause: unknown) {
    super('the connection was lost while the transaction was committed', { cause })
    this.transaction = transaction
    this.result = result
  }
}

/** How a server knows a transaction. */
export interface TransactionIdentity {
  readonly xid: string
  /** When it had its id, by the clock of the server, in seconds since the epoch. */
  readonly at: number
}

/** What a transaction led to. */
export interface Committed<T> {
  readonly value: T
  readonly notified: Notified
}

/**
 * Reads on one consistent view. The first statements travel with its begin, and the reader does not
 * wait for its end.
 * @throws {SqlError}
 */
export async function readTransaction<T>(
  connection: Connection,
  work: (sql: SqlStatements) => T,
  settings: PostgresSettings,
): Promise<T> {
  const begin = beginOf('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', settings)
  return guarded(connection, async () => {
    const replay = new Replay(settings.leaseClock === 'server')
    let sent: Promise<unknown>[] = [connection.command(begin)]
    for (;;) {
      const attempt = replay.attempt(work)
      if (attempt.isDone) {
        await allOf([...sent, connection.command('COMMIT')])
        return attempt.value
      }
      await allOf([...sent, ...ask(connection, replay.take())])
      sent = []
    }
  })
}

/**
 * Runs `work` in one transaction. Everything up to a row that the work waits for travels together: a
 * write that needs one row, as each step does, takes two round trips.
 * @throws {SqlError}
 * @throws {UnknownCommit}
 */
export async function writeTransaction<T>(
  connection: Connection,
  work: (sql: SqlStatements) => T,
  settings: PostgresSettings,
): Promise<Committed<T>> {
  return guarded(connection, async () => {
    const replay = new Replay(settings.leaseClock === 'server')
    const identity = connection.command(`${beginOf('BEGIN', settings)}; ${XID}`)
    let sent: Promise<unknown>[] = [identity]
    for (;;) {
      const attempt = replay.attempt(work)
      const asked = replay.take()
      if (!attempt.isDone) {
        await allOf([...sent, ...ask(connection, asked)])
        sent = []
        continue
      }
      // The number of the transaction must be known before it may be committed.
      await allOf(sent)
      const result = { value: attempt.value, notified: replay.notified }
      const { xid, at } = (await identity)[0] ?? {}
      const transaction = { xid: String(xid), at: Number(at) }
      await commit(connection, asked, { transaction, result })
      return result
    }
  })
}

async function commit(
  connection: Connection,
  asked: readonly Asked[],
  { transaction, result }: Pick<UnknownCommit, 'transaction' | 'result'>,
): Promise<void> {
  try {
    await allOf([...ask(connection, asked), connection.command('COMMIT')])
  } catch (error) {
    const isUnknown = error instanceof SqlError && error.kind === 'unreachable'
    throw isUnknown ? new UnknownCommit(transaction, result, error) : error
  }
}

function ask(connection: Connection, asked: readonly Asked[]): Promise<void>[] {
  return asked.map((one) => connection.ask(one))
}

/** Ends the transaction when `run` fails. A connection that is lost has ended it. */
async function guarded<T>(connection: Connection, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!connection.isLost && !(error instanceof UnknownCommit)) await rollBack(connection)
    throw error
  }
}

async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.command('ROLLBACK')
  } catch (error) {
    // The server rolls back when it finds the connection gone.
    connection.lose()
    if (!(error instanceof SqlError)) throw error
  }
}

/** `SET LOCAL` ends with its transaction, which a pooler needs. */
function beginOf(begin: string, { statementTimeoutMs }: PostgresSettings): string {
  return (
    `${begin}; SET LOCAL statement_timeout = ${statementTimeoutMs};` +
    ` SET LOCAL idle_in_transaction_session_timeout = ${Math.min(statementTimeoutMs, IDLE_MS)}`
  )
}
