import { AgentAlreadyRunningError, StateStoreError } from '@helix-agents/core'
import type { RunWrite } from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { numberColumn, optionalColumn } from './column.ts'

/** The counters of a session; `id` is its key in the other tables. */
export interface SessionRow {
  readonly id: number
  readonly stepCount: number
  readonly messageCount: number
  readonly journalCount: number
  /** How many runs it had. */
  readonly turn: number
  /** Absent while no run holds it. */
  readonly leaseUntil?: number
  readonly stateVersion: number
  readonly refsVersion: number
}

const COLUMNS =
  'id, step_count, message_count, journal_count, turn, lease_until, state_version, refs_version'
const FIND = `SELECT ${COLUMNS} FROM helix_sessions WHERE session_id = ?`

/** @throws {StateStoreError} `not-found` */
export function findSession(sql: SqlStatements, sessionId: string): SessionRow {
  const row = sql.get(FIND, toSqlText(sessionId))
  if (row === undefined) throw new StateStoreError('not-found', sessionId, 'no such session')
  return toSessionRow(row)
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
  if (row !== undefined) return toSessionRow(row)
  findSession(sql, sessionId)
  throw new StateStoreError('conflict', sessionId, 'this run does not hold it any more')
}

/** @throws {AgentAlreadyRunningError} while another run holds the session. */
export function assertFree(session: SessionRow, sessionId: string, now: number): void {
  if (isHeldAt(session, now)) throw new AgentAlreadyRunningError(sessionId)
}

export function isHeldAt(session: SessionRow, now: number): boolean {
  return session.leaseUntil !== undefined && now < session.leaseUntil
}

function toSessionRow(row: SqlRow): SessionRow {
  const leaseUntil = optionalColumn(row, 'lease_until', numberColumn)
  return {
    id: numberColumn(row, 'id'),
    stepCount: numberColumn(row, 'step_count'),
    messageCount: numberColumn(row, 'message_count'),
    journalCount: numberColumn(row, 'journal_count'),
    turn: numberColumn(row, 'turn'),
    ...(leaseUntil !== undefined && { leaseUntil }),
    stateVersion: numberColumn(row, 'state_version'),
    refsVersion: numberColumn(row, 'refs_version'),
  }
}
