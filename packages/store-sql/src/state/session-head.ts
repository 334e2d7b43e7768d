import type { JsonValue } from '@helix-agents/core'
import type { FileVersionsSnapshot, SessionState, SessionStatus } from '@helix-agents/core/runtime'
import { runTogether, type SqlRow, type SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import {
  damaged,
  nameColumn,
  numberColumn,
  optionalColumn,
  shapedColumn,
  textColumn,
} from './columns/column.ts'
import {
  isJson,
  isLabels,
  isLedger,
  isNames,
  isOutcome,
  isRefs,
  isRunUsage,
  isStatus,
  isStoredError,
  type StoredLabels,
  type WorkspaceRefs,
} from './columns/stored-shapes.ts'

const HEADS =
  'SELECT s.*, st.version AS found_state, st.value AS state, r.refs AS refs, l.labels AS labels,' +
  // What holds the session, `s.run_id`, need not be a run.
  ' (SELECT run_id FROM helix_runs WHERE session = s.id AND turn = s.turn) AS last_run' +
  ' FROM helix_sessions s' +
  ' LEFT JOIN helix_states st ON st.session = s.id AND st.version = s.state_version' +
  ' LEFT JOIN helix_refs r ON r.session = s.id AND r.version = s.refs_version' +
  ' LEFT JOIN helix_labels l ON l.session = s.id'
const HEAD = `${HEADS} WHERE s.session_id = ?`
const LEDGERS = 'SELECT workspace, ledger FROM helix_ledgers WHERE session = ? ORDER BY workspace'
/** The values of a JSON array, for a server: a statement costs it more than its rows. */
const AMONG = 'IN (SELECT value::bigint FROM json_array_elements_text(?))'
const HEADS_AMONG = `${HEADS} WHERE s.id ${AMONG}`
const LEDGERS_AMONG =
  'SELECT session, workspace, ledger FROM helix_ledgers' +
  ` WHERE session ${AMONG} ORDER BY session, workspace`

/** What a server has of some sessions, by their keys. */
export interface FoundHeads {
  readonly heads: ReadonlyMap<unknown, SqlRow>
  readonly ledgers: ReadonlyMap<unknown, readonly SqlRow[]>
}

/** Asks a server for some sessions at once. */
export function findHeads(sql: SqlStatements, ids: readonly number[]): FoundHeads {
  const among = JSON.stringify(ids)
  const [heads = [], ledgers = []] = runTogether(sql, [
    () => sql.all(HEADS_AMONG, among),
    () => sql.all(LEDGERS_AMONG, among),
  ])
  return {
    heads: new Map(heads.map((row) => [row['id'], row])),
    ledgers: Map.groupBy(ledgers, (row) => row['session']),
  }
}

/** The head of a session that was found. @throws {SqlError} `corrupt` */
export function foundHead(found: FoundHeads, id: number, sessionId: string): SessionState {
  const row = found.heads.get(id)
  if (row === undefined) throw damaged('id')
  return toHead(sessionId, row, found.ledgers.get(id) ?? [])
}

/** The head of a session; `undefined` for an unknown one. @throws {SqlError} `corrupt` */
export function loadHead(sql: SqlStatements, sessionId: string): SessionState | undefined {
  const row = sql.get(HEAD, toSqlText(sessionId))
  if (row === undefined) return undefined
  return toHead(sessionId, row, sql.all(LEDGERS, numberColumn(row, 'id')))
}

function toHead(sessionId: string, row: SqlRow, ledgers: readonly SqlRow[]): SessionState {
  return {
    sessionId,
    agentType: nameColumn(row, 'agent_type'),
    status: statusColumn(row),
    version: numberColumn(row, 'version'),
    stepCount: numberColumn(row, 'step_count'),
    messageCount: numberColumn(row, 'message_count'),
    customState: stateColumn(row),
    workspaceRefs: refsColumn(row),
    fileLedgers: Object.fromEntries(ledgers.map(toLedger)),
    createdAt: numberColumn(row, 'created_at'),
    updatedAt: numberColumn(row, 'updated_at'),
    ...optionalFields(row),
  }
}

/** The head of a session that is there. @throws {SqlError} `corrupt` */
export function loadKnownHead(sql: SqlStatements, sessionId: string): SessionState {
  const head = loadHead(sql, sessionId)
  if (head === undefined) throw damaged('session_id')
  return head
}

export function statusColumn(row: SqlRow): SessionStatus {
  const status = textColumn(row, 'status')
  if (!isStatus(status)) throw damaged('status')
  return status
}

/** The custom state, in a row that has `state_version` and joins its version. */
export function stateColumn(row: SqlRow): JsonValue | undefined {
  if (numberColumn(row, 'state_version') === 0) return undefined
  numberColumn(row, 'found_state')
  return optionalColumn(row, 'state', readJson)
}

/** The refs, in a row that has `refs_version` and joins its version. */
export function refsColumn(row: SqlRow): WorkspaceRefs {
  return numberColumn(row, 'refs_version') === 0 ? {} : shapedColumn(row, 'refs', isRefs)
}

function optionalFields(row: SqlRow): Partial<SessionState> & StoredLabels {
  const runId = optionalColumn(row, 'last_run', nameColumn)
  const output = optionalColumn(row, 'output', readJson)
  const error = optionalColumn(row, 'error', (of, name) => shapedColumn(of, name, isStoredError))
  const outcome = optionalColumn(row, 'outcome', (of, name) => shapedColumn(of, name, isOutcome))
  const owed = optionalColumn(row, 'owed', (of, name) => shapedColumn(of, name, isNames))
  const usage = optionalColumn(row, 'usage', (of, name) => shapedColumn(of, name, isRunUsage))
  const leaseUntil = optionalColumn(row, 'lease_until', numberColumn)
  const keeps = optionalColumn(row, 'keep_workspaces', numberColumn)
  const labels = optionalColumn(row, 'labels', (of, name) => shapedColumn(of, name, isLabels))
  return {
    ...labels,
    ...(runId !== undefined && { runId }),
    ...(leaseUntil !== undefined && { leaseUntil }),
    ...(owed !== undefined && { owed }),
    ...(keeps !== undefined && { keepWorkspaces: keeps !== 0 }),
    ...(usage !== undefined && { usage }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(outcome !== undefined && { outcome }),
  }
}

function readJson(row: SqlRow, name: string): JsonValue {
  return shapedColumn(row, name, isJson)
}

function toLedger(row: SqlRow): readonly [string, FileVersionsSnapshot] {
  return [nameColumn(row, 'workspace'), shapedColumn(row, 'ledger', isLedger)]
}
