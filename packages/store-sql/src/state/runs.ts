import { StateStoreError } from '@helix-agents/core'
import type {
  RunEnd,
  RunRecord,
  RunStart,
  RunWrite,
  SessionState,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { damaged, nameColumn, numberColumn, optionalColumn } from './columns/column.ts'
import { keepText } from './columns/long-texts.ts'
import { settleRequests } from './interaction/requests.ts'
import { loadKnownHead, statusColumn } from './session-head.ts'
import {
  assertFree,
  findSession,
  heldChange,
  heldUpdate,
  leaseTime,
  lockSession,
  type SessionRow,
  updateHeld,
} from './session-row.ts'
import { toJsonText } from './state-values.ts'

const HAS_RUN = 'SELECT 1 FROM helix_runs WHERE session = ? AND run_id = ?'
const ADD_RUN =
  'INSERT INTO helix_runs (session, turn, run_id, status, started_at, steps_before)' +
  " VALUES (?, ?, ?, 'running', ?, ?)"
const END_RUN =
  'UPDATE helix_runs SET status = ?, ended_at = ?, step_count = ? - steps_before' +
  ' WHERE session = ? AND turn = ? AND ended_at IS NULL'
const ACQUIRE =
  "UPDATE helix_sessions SET version = version + 1, updated_at = ?, status = 'running'," +
  ' run_id = ?, lease_until = ?, turn = turn + 1, stop = NULL, output = NULL, error = NULL,' +
  ' owed = NULL, keep_workspaces = coalesce(?, keep_workspaces) WHERE id = ?'
const HOLD = 'UPDATE helix_sessions SET run_id = ?, lease_until = ? WHERE id = ?'
const RENEW = heldUpdate('lease_until = ?')
const END = heldChange(
  'status = ?, output = ?, error = ?, owed = ?, outcome = NULL, lease_until = NULL, stop = NULL',
)
const RUNS = 'SELECT * FROM helix_runs WHERE session = ? ORDER BY turn'

export function beginRun(sql: SqlStatements, start: RunStart): SessionState {
  const { sessionId, now } = start
  const session = lockSession(sql, sessionId)
  const leaseStart = leaseTime(sql, now)
  assertFree(session, sessionId, leaseStart)
  if (start.version !== undefined && start.version !== session.version) {
    throw new StateStoreError('conflict', sessionId, 'it has changed since it was read')
  }
  const runId = toSqlText(start.runId)
  if (sql.get(HAS_RUN, session.id, runId) !== undefined) {
    throw new StateStoreError('conflict', sessionId, 'it had a run of this id already')
  }
  const leaseUntil = leaseStart + start.leaseMs
  if (start.hold === true) sql.run(HOLD, runId, leaseUntil, session.id)
  else {
    endLastRun(sql, session, 'interrupted', now)
    sql.run(ADD_RUN, session.id, session.turn + 1, runId, now, session.stepCount)
    const keeps = start.keepWorkspaces === undefined ? null : Number(start.keepWorkspaces)
    sql.run(ACQUIRE, now, runId, leaseUntil, keeps, session.id)
  }
  return loadKnownHead(sql, sessionId)
}

export function renewRun(sql: SqlStatements, write: RunWrite, leaseMs: number): void {
  updateHeld(sql, write, RENEW, [leaseTime(sql, write.now) + leaseMs])
}

export function endRun(sql: SqlStatements, end: RunEnd): SessionState {
  const { now, status } = end
  const { output, error, owed } = end
  const texts = [output, error, owed].map((value) => keepText(sql, toJsonText(value)))
  const session = updateHeld(sql, end, END, [now, status, ...texts])
  endLastRun(sql, session, status, now)
  if (status === 'aborted') settleRequests(sql, session, now)
  return loadKnownHead(sql, end.sessionId)
}

/** Closes the record of the last run, unless that ended before. */
export function endLastRun(
  sql: SqlStatements,
  session: SessionRow,
  status: RunRecord['status'],
  now: number,
): void {
  sql.run(END_RUN, status, now, session.stepCount, session.id, session.turn)
}

export function listRuns(sql: SqlStatements, sessionId: string): readonly RunRecord[] {
  const { id, stepCount } = findSession(sql, sessionId)
  return sql.all(RUNS, id).map((row) => toRunRecord(row, sessionId, stepCount))
}

/** A running run has the steps of its session since it began. */
function toRunRecord(row: SqlRow, sessionId: string, stepsNow: number): RunRecord {
  const status = statusColumn(row)
  if (status === 'idle') throw damaged('status')
  const endedAt = optionalColumn(row, 'ended_at', numberColumn)
  return {
    runId: nameColumn(row, 'run_id'),
    sessionId,
    status,
    turn: numberColumn(row, 'turn'),
    stepCount:
      optionalColumn(row, 'step_count', numberColumn) ??
      stepsNow - numberColumn(row, 'steps_before'),
    startedAt: numberColumn(row, 'started_at'),
    ...(endedAt !== undefined && { endedAt }),
  }
}
