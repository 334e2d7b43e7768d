import { type SqlRow, type SqlStatements, type SqlValue, toSqlText } from '@helix-agents/store-sql'
import { attentionAt } from '../ledger/attention.ts'
import { parseRecord } from '../ledger/record-schema.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import { damaged } from './to-fleet-error.ts'

const COLUMNS = [
  'id',
  'version',
  'status',
  'status_since',
  'environment',
  'provider',
  'session_id',
  'agent_type',
  'task_id',
  'tenant',
  'pool',
  'created_at',
  'attention_at',
  'body',
] as const

const INSERT =
  `INSERT INTO helix_fleet_sandboxes (${COLUMNS.join(', ')})` +
  ` VALUES (${COLUMNS.map(() => '?').join(', ')})`
const UPDATE =
  `UPDATE helix_fleet_sandboxes SET ${COLUMNS.map((name) => `${name} = ?`).join(', ')}` +
  ' WHERE id = ?'

const LOCK = 'SELECT 1 FROM helix_fleet_sandboxes WHERE id = ? FOR UPDATE'

export function insertRecord(sql: SqlStatements, record: SandboxRecord): void {
  sql.run(INSERT, ...valuesOf(record))
}

export function updateRecord(sql: SqlStatements, record: SandboxRecord): void {
  sql.run(UPDATE, ...valuesOf(record), record.id)
}

/** On a server, no other transaction changes the record until this one ends. */
export function lockRecord(sql: SqlStatements, id: string): void {
  sql.server?.lock(LOCK, id)
}

/** @throws {FleetError} `corrupt` */
export function findRecord(sql: SqlStatements, id: string): SandboxRecord | undefined {
  const row = sql.get('SELECT id, body FROM helix_fleet_sandboxes WHERE id = ?', id)
  return row === undefined ? undefined : toRecord(row)
}

/** A record of a row with `id` and `body`. @throws {FleetError} `corrupt` */
export function toRecord(row: SqlRow): SandboxRecord {
  const { body, id } = row
  const sandboxId = typeof id === 'string' ? id : ''
  return parseRecord(parseBody(body ?? null, sandboxId), sandboxId)
}

function parseBody(body: SqlValue, sandboxId: string): unknown {
  try {
    return JSON.parse(String(body))
  } catch (error) {
    throw damaged(sandboxId, error)
  }
}

function valuesOf(record: SandboxRecord): readonly SqlValue[] {
  const { lease } = record
  return [
    record.id,
    record.version,
    record.status,
    record.statusSince,
    toSqlText(record.environment),
    toSqlText(record.provider),
    toLabel(record.sessionId),
    toLabel(record.agentType),
    toLabel(record.taskId),
    toLabel(record.tenant),
    toLabel(lease?.kind === 'pool' ? lease.holder : undefined),
    record.createdAt,
    attentionAt(record) ?? null,
    JSON.stringify(record),
  ]
}

function toLabel(text: string | undefined): SqlValue {
  return text === undefined ? null : toSqlText(text)
}
