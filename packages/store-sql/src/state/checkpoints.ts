import { StateStoreError } from '@helix-agents/core'
import {
  type Checkpoint,
  type Page,
  type PageQuery,
  type SessionState,
  parsePageQuery,
  toCursor,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, numberColumn } from './columns/column.ts'
import { endLastRun } from './runs.ts'
import { settleRequests } from './interaction/requests.ts'
import { loadKnownHead, refsColumn, stateColumn, statusColumn } from './session-head.ts'
import { findSession, isHeldAt, leaseTime, lockSession, type SessionRow } from './session-row.ts'
import { loadRefs, saveRefs } from './state-values.ts'

const CHECKPOINT =
  'SELECT c.*, st.version AS found_state, st.value AS state, r.refs AS refs' +
  ' FROM helix_checkpoints c' +
  ' LEFT JOIN helix_states st ON st.session = c.session AND st.version = c.state_version' +
  ' LEFT JOIN helix_refs r ON r.session = c.session AND r.version = c.refs_version'
const LIST = `${CHECKPOINT} WHERE c.session = ? AND c.step_count < ? ORDER BY c.step_count DESC LIMIT ?`
const FIND_AT = `${CHECKPOINT} WHERE c.session = ? AND c.step_count = ? AND c.checkpoint_id = ?`
const FIND = `${CHECKPOINT} WHERE c.session = ? AND c.checkpoint_id = ? ORDER BY c.step_count DESC LIMIT 1`

/** What comes after a checkpoint; each takes the session and a position. */
const DROP_MESSAGES = 'DELETE FROM helix_messages WHERE session = ? AND position >= ?'
const DROP_CHECKPOINTS = 'DELETE FROM helix_checkpoints WHERE session = ? AND step_count > ?'
const DROP_STATES = 'DELETE FROM helix_states WHERE session = ? AND version > ?'
const DROP_REFS = 'DELETE FROM helix_refs WHERE session = ? AND version > ?'
const DROP_LEDGERS = 'DELETE FROM helix_ledgers WHERE session = ?'
const DROP_JOURNAL = 'DELETE FROM helix_journal WHERE session = ?'
const RESTORE =
  "UPDATE helix_sessions SET version = version + 1, updated_at = ?, status = 'interrupted'," +
  ' lease_until = NULL, stop = NULL, output = NULL, error = NULL, outcome = NULL, owed = NULL, journal_count = 0,' +
  ' step_count = ?, message_count = ?, state_version = ?, saved_state = ?, refs_version = ?,' +
  ' saved_refs = ? WHERE id = ?'

export function listCheckpoints(
  sql: SqlStatements,
  sessionId: string,
  query: PageQuery,
): Page<Checkpoint> {
  const { id } = findSession(sql, sessionId)
  const { limit, below } = parsePageQuery(query, sessionId)
  const rows = sql.all(LIST, id, below, limit + 1)
  const items = rows.slice(0, limit).map((row) => toCheckpoint(row, sessionId))
  const last = items.at(-1)
  const more = last !== undefined && rows.length > limit
  return { items, ...(more && { nextCursor: toCursor(last.stepCount) }) }
}

export function getCheckpoint(
  sql: SqlStatements,
  sessionId: string,
  checkpointId: string,
): Checkpoint | null {
  const { id } = findSession(sql, sessionId)
  const row = findRow(sql, id, checkpointId)
  return row === undefined ? null : toCheckpoint(row, sessionId)
}

/** The id of a checkpoint names its step, which is its key; ids of other makers are searched for. */
function findRow(sql: SqlStatements, session: number, checkpointId: string): SqlRow | undefined {
  const text = toSqlText(checkpointId)
  const step = /-s(\d{1,15})-t\d{1,20}-[^-]{1,64}$/.exec(checkpointId)?.[1]
  const row = step === undefined ? undefined : sql.get(FIND_AT, session, Number(step), text)
  return row ?? sql.get(FIND, session, text)
}

function toCheckpoint(row: SqlRow, sessionId: string): Checkpoint {
  return {
    id: nameColumn(row, 'checkpoint_id'),
    sessionId,
    stepCount: numberColumn(row, 'step_count'),
    messageCount: numberColumn(row, 'message_count'),
    customState: stateColumn(row),
    workspaceRefs: refsColumn(row),
    status: statusColumn(row),
    createdAt: numberColumn(row, 'created_at'),
  }
}

export interface Restore {
  readonly sessionId: string
  readonly checkpointId: string
  readonly now: number
}

export function restoreCheckpoint(sql: SqlStatements, restore: Restore): SessionState {
  const { sessionId, checkpointId, now } = restore
  const session = lockSession(sql, sessionId)
  if (isHeldAt(session, leaseTime(sql, now)))
    throw new StateStoreError('conflict', sessionId, 'a run holds it')
  const row = findRow(sql, session.id, checkpointId)
  if (row === undefined) throw new StateStoreError('not-found', sessionId, 'no such checkpoint')
  endLastRun(sql, session, 'interrupted', now)
  goBack(sql, session, row, now)
  settleRequests(sql, session, now)
  return loadKnownHead(sql, sessionId)
}

function goBack(sql: SqlStatements, session: SessionRow, checkpoint: SqlRow, now: number): void {
  const { id } = session
  const stepCount = numberColumn(checkpoint, 'step_count')
  const messageCount = numberColumn(checkpoint, 'message_count')
  const stateVersion = numberColumn(checkpoint, 'state_version')
  const savedRefs = numberColumn(checkpoint, 'refs_version')
  sql.run(DROP_MESSAGES, id, messageCount)
  sql.run(DROP_CHECKPOINTS, id, stepCount)
  sql.run(DROP_STATES, id, stateVersion)
  sql.run(DROP_LEDGERS, id)
  sql.run(DROP_JOURNAL, id)
  const refsVersion = restoreRefs(sql, session, checkpoint)
  const versions = [stateVersion, stateVersion, refsVersion, savedRefs]
  sql.run(RESTORE, now, stepCount, messageCount, ...versions, id)
}

/**
 * Current refs stay, under those of the checkpoint: a workspace that was opened later is not
 * forgotten. @returns the version of the refs that are current now
 */
function restoreRefs(sql: SqlStatements, session: SessionRow, checkpoint: SqlRow): number {
  const version = numberColumn(checkpoint, 'refs_version')
  const refs = refsColumn(checkpoint)
  const current = session.refsVersion === 0 ? {} : loadRefs(sql, session.id, session.refsVersion)
  sql.run(DROP_REFS, session.id, version)
  const merged = { ...current, ...refs }
  if (Object.keys(merged).length === Object.keys(refs).length) return version
  saveRefs(sql, session.id, version + 1, merged)
  return version + 1
}
