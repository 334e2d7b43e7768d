import type { JsonValue, Message } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { StateChange } from '@helix-agents/core/runtime'
import type { SqlStatements, SqlValue } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { shapedColumn } from './columns/column.ts'
import { keepText } from './columns/long-texts.ts'
import { toStorableMessage } from './columns/message-json.ts'
import { isRefs, type WorkspaceRefs } from './columns/stored-shapes.ts'

// What is made of JavaScript values is made before a transaction starts: a value that JSON
// cannot hold fails there, while no lock is held.

const ADD_MESSAGE = 'INSERT INTO helix_messages (session, position, message) VALUES (?, ?, ?)'
const SET_STATE =
  'INSERT INTO helix_states (session, version, value) VALUES (?, ?, ?)' +
  ' ON CONFLICT (session, version) DO UPDATE SET value = excluded.value'
const SET_LEDGER =
  'INSERT INTO helix_ledgers (session, workspace, ledger) VALUES (?, ?, ?)' +
  ' ON CONFLICT (session, workspace) DO UPDATE SET ledger = excluded.ledger'
const SET_REFS =
  'INSERT INTO helix_refs (session, version, refs) VALUES (?, ?, ?)' +
  ' ON CONFLICT (session, version) DO UPDATE SET refs = excluded.refs'
const SET_USAGE = 'UPDATE helix_sessions SET usage = ? WHERE id = ?'
const FIND_REFS =
  'SELECT refs FROM helix_refs WHERE session = ? AND version <= ? ORDER BY version DESC LIMIT 1'

/** NULL for `undefined`. */
export function toJsonText(value: JsonValue | object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

export function toMessageTexts(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => JSON.stringify(toStorableMessage(message)))
}

/** Adds messages at the end of a session that counts them already. */
export function addMessages(
  sql: SqlStatements,
  session: { readonly id: number; readonly messageCount: number },
  texts: readonly string[],
): void {
  const first = session.messageCount - texts.length
  for (const [index, text] of texts.entries()) {
    sql.run(ADD_MESSAGE, session.id, first + index, keepText(sql, text))
  }
}

/** A `StateChange` as it is stored. */
export interface StoredChange {
  /** Absent when the custom state did not change. */
  readonly state?: { readonly text: string | null }
  readonly ledgers: readonly (readonly [workspace: string, text: string])[]
  /** Absent when nothing was used. */
  readonly usage?: string
}

export function toStoredChange(change: StateChange): StoredChange {
  const { customState, fileLedgers = {}, usage } = change
  return {
    ...(usage !== undefined && { usage: JSON.stringify(usage) }),
    ...(customState !== undefined && { state: { text: toJsonText(customState.value) } }),
    ledgers: Object.entries(fileLedgers).map(([workspace, ledger]) => [
      toSqlText(workspace),
      JSON.stringify(ledger),
    ]),
  }
}

/** Columns of a change of the custom state; each `?` is 1 if it changed, else 0. */
export const NEXT_STATE =
  'state_version + CASE WHEN ? = 1 AND state_version = saved_state THEN 1 ELSE 0 END'

export function hasState(change: StoredChange): SqlValue {
  return change.state === undefined ? 0 : 1
}

/** Stores what changed, for a session whose `stateVersion` counts it already. */
export function applyChange(
  sql: SqlStatements,
  session: { readonly id: number; readonly stateVersion: number },
  change: StoredChange,
): void {
  if (change.state !== undefined) {
    sql.run(SET_STATE, session.id, session.stateVersion, keepText(sql, change.state.text))
  }
  for (const [workspace, text] of change.ledgers) {
    sql.run(SET_LEDGER, session.id, workspace, keepText(sql, text))
  }
  if (change.usage !== undefined) sql.run(SET_USAGE, change.usage, session.id)
}

/** The refs of the newest version up to the given one. @throws {SqlError} `corrupt` */
export function loadRefs(sql: SqlStatements, session: number, version: number): WorkspaceRefs {
  const row = sql.get(FIND_REFS, session, version)
  return row === undefined ? {} : shapedColumn(row, 'refs', isRefs)
}

export function saveRefs(
  sql: SqlStatements,
  session: number,
  version: number,
  refs: WorkspaceRefs,
): void {
  sql.run(SET_REFS, session, version, keepText(sql, JSON.stringify(refs)))
}

/** Refs with one of them replaced, or removed by `null`. */
export function withRef(
  refs: WorkspaceRefs,
  workspace: string,
  ref: WorkspaceRef | null,
): WorkspaceRefs {
  const others = Object.entries(refs).filter(([name]) => name !== workspace)
  return Object.fromEntries(ref === null ? others : [...others, [workspace, ref]])
}
