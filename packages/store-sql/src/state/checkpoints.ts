import { StateStoreError } from '@helix-agents/core'
import {
  type Checkpoint,
  type Page,
  type RestoreOptions,
  type StoredSnapshot,
  type PageQuery,
  type SessionState,
  parsePageQuery,
  toCursor,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, numberColumn } from './columns/column.ts'
import type { WorkspaceRefs } from './columns/stored-shapes.ts'
import { filesAt, goBackTo, loadSnapshots, releaseReplaced } from './history.ts'
import { endLastRun } from './runs.ts'
import { settleRequests } from './interaction/requests.ts'
import { loadKnownHead, refsColumn, stateColumn, statusColumn } from './session-head.ts'
import {
  findSession,
  heldUpdate,
  isHeldAt,
  leaseTime,
  lockSession,
  type SessionRow,
  updateHeld,
} from './session-row.ts'
import { loadRefs, saveRefs, withRef } from './state-values.ts'

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
/** Only asks whether the run holds the session. */
const KEEP = heldUpdate('updated_at = ?')
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
  const snapshots = rows.length === 0 ? [] : loadSnapshots(sql, id)
  const items = rows.slice(0, limit).map((row) => toCheckpoint(row, sessionId, snapshots))
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
  if (row === undefined) return null
  const snapshots = loadSnapshots(sql, id, numberColumn(row, 'step_count'))
  return toCheckpoint(row, sessionId, snapshots)
}

/** The id of a checkpoint names its step, which is its key; ids of other makers are searched for. */
function findRow(sql: SqlStatements, session: number, checkpointId: string): SqlRow | undefined {
  const text = toSqlText(checkpointId)
  const step = /-s(\d{1,15})-t\d{1,20}-[^-]{1,64}$/.exec(checkpointId)?.[1]
  const row = step === undefined ? undefined : sql.get(FIND_AT, session, Number(step), text)
  return row ?? sql.get(FIND, session, text)
}

function toCheckpoint(
  row: SqlRow,
  sessionId: string,
  snapshots: readonly StoredSnapshot[],
): Checkpoint {
  return {
    id: nameColumn(row, 'checkpoint_id'),
    sessionId,
    stepCount: numberColumn(row, 'step_count'),
    messageCount: numberColumn(row, 'message_count'),
    customState: stateColumn(row),
    workspaceRefs: refsColumn(row),
    ...filesAt(snapshots, numberColumn(row, 'step_count')),
    status: statusColumn(row),
    createdAt: numberColumn(row, 'created_at'),
  }
}

export interface Restore {
  readonly sessionId: string
  readonly checkpointId: string
  readonly now: number
  readonly options: RestoreOptions
}

export function restoreCheckpoint(sql: SqlStatements, restore: Restore): SessionState {
  const { sessionId, checkpointId, now, options } = restore
  const { runId } = options
  const session =
    runId === undefined
      ? lockSession(sql, sessionId)
      : updateHeld(sql, { sessionId, runId, now }, KEEP, [now])
  if (runId === undefined && isHeldAt(session, leaseTime(sql, now)))
    throw new StateStoreError('conflict', sessionId, 'a run holds it')
  const row = findRow(sql, session.id, checkpointId)
  if (row === undefined) throw new StateStoreError('not-found', sessionId, 'no such checkpoint')
  endLastRun(sql, session, 'interrupted', now)
  goBack(sql, session, row, restore)
  settleRequests(sql, session, now)
  return loadKnownHead(sql, sessionId)
}

function goBack(
  sql: SqlStatements,
  session: SessionRow,
  checkpoint: SqlRow,
  { now, options: { files = {} } }: Restore,
): void {
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
  goBackTo(sql, id, { stepCount, restored: Object.keys(files), now })
  const refsVersion = restoreRefs(sql, session, checkpoint, { files, now })
  const versions = [stateVersion, stateVersion, refsVersion, savedRefs]
  sql.run(RESTORE, now, stepCount, messageCount, ...versions, id)
}

/**
 * Current refs stay, under those of the checkpoint: a workspace that was opened later is not
 * forgotten. Those of `files` replace both. @returns the version of the refs that are current now
 */
function restoreRefs(
  sql: SqlStatements,
  session: SessionRow,
  checkpoint: SqlRow,
  { files, now }: { readonly files: NonNullable<RestoreOptions['files']>; readonly now: number },
): number {
  const version = numberColumn(checkpoint, 'refs_version')
  const refs = refsColumn(checkpoint)
  const current = session.refsVersion === 0 ? {} : loadRefs(sql, session.id, session.refsVersion)
  sql.run(DROP_REFS, session.id, version)
  let merged: WorkspaceRefs = { ...current, ...refs }
  for (const [name, ref] of Object.entries(files)) merged = withRef(merged, name, ref)
  releaseReplaced(sql, session.id, { before: current, after: merged, now })
  if (areSame(merged, refs)) return version
  saveRefs(sql, session.id, version + 1, merged)
  return version + 1
}

/** In whatever order they stand. */
function areSame(some: WorkspaceRefs, others: WorkspaceRefs): boolean {
  const entries = Object.entries(some)
  const isSame = ([name, ref]: (typeof entries)[number]): boolean =>
    Object.hasOwn(others, name) && JSON.stringify(others[name]) === JSON.stringify(ref)
  return entries.length === Object.keys(others).length && entries.every(isSame)
}
