import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  BranchIntent,
  CheckpointSnapshot,
  CheckpointSnapshots,
  Released,
  ReleasedRef,
  SessionHistory,
  StepCommit,
  StoredSnapshot,
} from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import {
  damaged,
  nameColumn,
  numberColumn,
  optionalColumn,
  shapedColumn,
} from './columns/column.ts'
import { keepText } from './columns/long-texts.ts'
import {
  isMissing,
  isRef,
  isRefs,
  isSnapshotRef,
  type WorkspaceRefs,
} from './columns/stored-shapes.ts'
import { findSession } from './session-row.ts'

const ADD =
  'INSERT INTO helix_snapshots (session, step_count, workspace, snapshot, missing, created_at)' +
  ' SELECT id, step_count, ?, ?, ?, updated_at FROM helix_sessions WHERE id = ?'
const DROP_CHANGED =
  'DELETE FROM helix_snapshots WHERE session = ? AND step_count = -1 AND workspace = ?'
const EVICT =
  "UPDATE helix_snapshots SET snapshot = NULL, missing = 'evicted'" +
  ' WHERE session = ? AND workspace = ? AND step_count >= 0 AND step_count < ?' +
  ' AND snapshot IS NOT NULL'
const UP_TO =
  'SELECT * FROM helix_snapshots WHERE session = ? AND step_count <= ? ORDER BY step_count'
const MARK_CHANGED =
  'INSERT INTO helix_snapshots (session, step_count, workspace, created_at)' +
  ' SELECT session, -1, workspace, ? FROM helix_snapshots WHERE session = ?' +
  ' ON CONFLICT (session, step_count, workspace) DO NOTHING'
const DROP_LATER = 'DELETE FROM helix_snapshots WHERE session = ? AND step_count > ?'
const REFS = 'SELECT refs FROM helix_refs WHERE session = ? ORDER BY version'
const RELEASED = 'SELECT * FROM helix_released WHERE session = ? ORDER BY id'
const RELEASE =
  'INSERT INTO helix_released (session, workspace, ref, branch, released_at)' +
  ' VALUES (?, ?, ?, ?, ?) RETURNING id'
const FORGET = 'DELETE FROM helix_released WHERE session = ? AND id = ?'

/** No step: the row says that the files have changed. */
const CHANGED = -1
/** Later than every step. */
const NEWEST = Number.MAX_SAFE_INTEGER

/** The files of a step, as texts. */
export function toStoredFiles({ workspaceSnapshots = {} }: StepCommit): readonly StoredFiles[] {
  return Object.entries(workspaceSnapshots).map(([workspace, { snapshot, missing }]) => ({
    workspace: toSqlText(workspace),
    snapshot: snapshot === undefined ? null : JSON.stringify(snapshot),
    missing: missing ?? null,
  }))
}

export interface StoredFiles {
  readonly workspace: string
  readonly snapshot: string | null
  readonly missing: string | null
}

/** Stores the files of a step that is counted already. */
export function saveFiles(
  sql: SqlStatements,
  session: number,
  files: readonly StoredFiles[],
): void {
  for (const { workspace, snapshot, missing } of files) {
    sql.run(DROP_CHANGED, session, workspace)
    sql.run(ADD, workspace, snapshot, missing, session)
  }
}

export function evictBefore(
  sql: SqlStatements,
  session: number,
  before: StepCommit['evictBefore'] = {},
): void {
  for (const [workspace, step] of Object.entries(before)) {
    sql.run(EVICT, session, toSqlText(workspace), step)
  }
}

/** Snapshots of steps up to one, the oldest first. */
export function loadSnapshots(
  sql: SqlStatements,
  session: number,
  stepCount = NEWEST,
): readonly StoredSnapshot[] {
  return sql
    .all(UP_TO, session, stepCount)
    .filter((row) => !isChanged(row))
    .map(toStoredSnapshot)
}

/** The files after a step: of each workspace those of the last step that changed them. */
export function filesAt(
  snapshots: readonly StoredSnapshot[],
  stepCount: number,
): { readonly workspaceSnapshots?: CheckpointSnapshots } {
  const found = snapshots.filter((one) => one.stepCount <= stepCount)
  if (found.length === 0) return {}
  const files = found.map(({ workspace, files: at }) => [workspace, at] as const)
  return { workspaceSnapshots: Object.fromEntries(files) }
}

/** Goes back to a step; the files of workspaces that are not `restored` stay as they are. */
export function goBackTo(
  sql: SqlStatements,
  session: number,
  to: { readonly stepCount: number; readonly restored: readonly string[]; readonly now: number },
): void {
  sql.run(MARK_CHANGED, to.now, session)
  for (const workspace of to.restored) sql.run(DROP_CHANGED, session, toSqlText(workspace))
  sql.run(DROP_LATER, session, to.stepCount)
}

/** Records refs that are replaced or removed by other ones. */
export function releaseReplaced(
  sql: SqlStatements,
  session: number,
  refs: { readonly before: WorkspaceRefs; readonly after: WorkspaceRefs; readonly now: number },
): void {
  for (const [workspace, ref] of Object.entries(refs.before)) {
    const next = Object.hasOwn(refs.after, workspace) ? refs.after[workspace] : undefined
    if (JSON.stringify(next) === JSON.stringify(ref)) continue
    release(sql, session, { workspace, ref }, refs.now)
  }
}

export function recordReleased(
  sql: SqlStatements,
  sessionId: string,
  released: ReleasedRef | BranchIntent,
  now: number,
): number {
  return release(sql, findSession(sql, sessionId).id, released, now)
}

function release(
  sql: SqlStatements,
  session: number,
  released: ReleasedRef | BranchIntent,
  now: number,
): number {
  const branch = 'branchId' in released ? toSqlText(released.branchId) : null
  const backend = 'branchId' in released ? released.made : released
  const row = sql.get(
    RELEASE,
    session,
    backend === undefined ? null : toSqlText(backend.workspace),
    backend === undefined ? null : keepText(sql, JSON.stringify(backend.ref)),
    branch,
    now,
  )
  if (row === undefined) throw damaged('released')
  return numberColumn(row, 'id')
}

export function forgetReleased(
  sql: SqlStatements,
  sessionId: string,
  ids: readonly number[],
): void {
  const { id: session } = findSession(sql, sessionId)
  for (const id of ids) sql.run(FORGET, session, id)
}

export function loadHistory(sql: SqlStatements, sessionId: string): SessionHistory {
  const { id } = findSession(sql, sessionId)
  const rows = sql.all(UP_TO, id, NEWEST)
  return {
    snapshots: rows.filter((row) => !isChanged(row)).map(toStoredSnapshot),
    changed: rows.filter(isChanged).map((row) => nameColumn(row, 'workspace')),
    refs: sql.all(REFS, id).flatMap(refsOfRow),
    released: sql.all(RELEASED, id).map(toReleased),
  }
}

function isChanged(row: SqlRow): boolean {
  return numberColumn(row, 'step_count') === CHANGED
}

function refsOfRow(row: SqlRow): readonly WorkspaceRef[] {
  return Object.values(shapedColumn(row, 'refs', isRefs))
}

function toStoredSnapshot(row: SqlRow): StoredSnapshot {
  return {
    workspace: nameColumn(row, 'workspace'),
    stepCount: numberColumn(row, 'step_count'),
    files: filesOf(row),
    createdAt: numberColumn(row, 'created_at'),
  }
}

function filesOf(row: SqlRow): CheckpointSnapshot {
  if (row['snapshot'] !== null) return { snapshot: shapedColumn(row, 'snapshot', isSnapshotRef) }
  const { missing } = row
  if (!isMissing(missing)) throw damaged('missing')
  return { missing }
}

function toReleased(row: SqlRow): Released {
  const at = { id: numberColumn(row, 'id'), releasedAt: numberColumn(row, 'released_at') }
  const branchId = optionalColumn(row, 'branch', nameColumn)
  if (branchId === undefined) return { ...at, ...toReleasedRef(row) }
  return { ...at, branchId, ...(row['ref'] !== null && { made: toReleasedRef(row) }) }
}

function toReleasedRef(row: SqlRow): ReleasedRef {
  return { workspace: nameColumn(row, 'workspace'), ref: shapedColumn(row, 'ref', isRef) }
}
