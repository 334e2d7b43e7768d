import { AgentAlreadyRunningError, StateStoreError } from '@helix-agents/core'
import type { RunWrite } from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { numberColumn, optionalColumn } from './columns/column.ts'

/** The counters of a session. A counter is read, and checked, when it is used. */
export class SessionRow {
  readonly #row: SqlRow

  constructor(row: SqlRow) {
    this.#row = row
  }

  /** Key of the session in the other tables. */
  get id(): number {
    return numberColumn(this.#row, 'id')
  }

  get version(): number {
    return numberColumn(this.#row, 'version')
  }

  get stepCount(): number {
    return numberColumn(this.#row, 'step_count')
  }

  get messageCount(): number {
    return numberColumn(this.#row, 'message_count')
  }

  get journalCount(): number {
    return numberColumn(this.#row, 'journal_count')
  }

  /** Number of its runs. */
  get turn(): number {
    return numberColumn(this.#row, 'turn')
  }

  /** Milliseconds since the epoch. Undefined while no run holds the session. */
  get leaseUntil(): number | undefined {
    return optionalColumn(this.#row, 'lease_until', numberColumn)
  }

  /** 0 when it has no live requests. */
  get asked(): number {
    return numberColumn(this.#row, 'asked')
  }

  get stateVersion(): number {
    return numberColumn(this.#row, 'state_version')
  }

  get refsVersion(): number {
    return numberColumn(this.#row, 'refs_version')
  }
}

const COLUMNS =
  'id, version, step_count, message_count, journal_count, turn, lease_until, asked, state_version,' +
  ' refs_version'
const FIND = `SELECT ${COLUMNS} FROM helix_sessions WHERE session_id = ?`
const LOCK = 'SELECT 1 FROM helix_sessions WHERE session_id = ? FOR UPDATE'

/** @throws {StateStoreError} `not-found` */
export function findSession(sql: SqlStatements, sessionId: string): SessionRow {
  const row = sql.get(FIND, toSqlText(sessionId))
  if (row === undefined) throw new StateStoreError('not-found', sessionId, 'no such session')
  return new SessionRow(row)
}

/** As `findSession`, for a transaction that decides by what it finds. */
export function lockSession(sql: SqlStatements, sessionId: string): SessionRow {
  sql.server?.lock(LOCK, toSqlText(sessionId))
  return findSession(sql, sessionId)
}

/** The time by which leases begin and end: that of a server, else that of the caller. */
export function leaseTime(sql: SqlStatements, now: number): number {
  return sql.server?.now() ?? now
}

/**
 * A statement that changes the row of a session if the run holds it. Its values: those of
 * `changes`, the session, the run.
 */
export function heldUpdate(changes: string): string {
  return (
    `UPDATE helix_sessions SET ${changes} WHERE session_id = ? AND run_id = ?` +
    ` AND lease_until IS NOT NULL RETURNING ${COLUMNS}`
  )
}

/** A `heldUpdate` that counts as a change; the first of its values is the time. */
export function heldChange(changes: string): string {
  return heldUpdate(`version = version + 1, updated_at = ?${changes === '' ? '' : `, ${changes}`}`)
}

/**
 * Runs a `heldUpdate`: the fence is in the statement.
 * @throws {StateStoreError} `not-found`; `conflict` when the run does not hold the session.
 */
export function updateHeld(
  sql: SqlStatements,
  write: RunWrite,
  statement: string,
  values: readonly (string | number | null)[],
): SessionRow {
  const { sessionId, runId } = write
  const row = sql.get(statement, ...values, toSqlText(sessionId), toSqlText(runId))
  if (row !== undefined) return new SessionRow(row)
  findSession(sql, sessionId)
  throw new StateStoreError('conflict', sessionId, 'this run does not hold it any more')
}

/** @throws {AgentAlreadyRunningError} while another run holds the session. */
export function assertFree(session: SessionRow, sessionId: string, now: number): void {
  if (isHeldAt(session, now)) throw new AgentAlreadyRunningError(sessionId)
}

export function isHeldAt({ leaseUntil }: SessionRow, now: number): boolean {
  return leaseUntil !== undefined && now < leaseUntil
}
