import { StateStoreError } from '@helix-agents/core'
import type {
  JournalEntry,
  MessageAppend,
  StepCommit,
  StepStart,
  ToolCallCompletion,
  WorkspaceRefWrite,
} from '@helix-agents/core/runtime'
import type { SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { damaged } from './columns/column.ts'
import { toEntryJson, toJournalEntry, toResultJson } from './columns/journal-json.ts'
import { keepText } from './columns/long-texts.ts'
import { evictBefore, releaseReplaced, saveFiles, toStoredFiles } from './history.ts'
import { settleRequestOf, settleRequests } from './interaction/requests.ts'
import { findSession, heldChange, updateHeld } from './session-row.ts'
import {
  addMessages,
  applyChange,
  hasState,
  loadRefs,
  NEXT_STATE,
  saveRefs,
  toJsonText,
  toMessageTexts,
  toStoredChange,
  withRef,
} from './state-values.ts'

const APPEND = heldChange(
  `message_count = message_count + ?, outcome = NULL, state_version = ${NEXT_STATE}`,
)
const BEGIN = heldChange('message_count = message_count + ?, journal_count = ?, outcome = NULL')
const COMPLETE = heldChange(`state_version = ${NEXT_STATE}`)
const COMMIT = heldChange(
  'message_count = message_count + ?, journal_count = 0, step_count = step_count + 1,' +
    ` outcome = ?, state_version = ${NEXT_STATE}, saved_state = ${NEXT_STATE},` +
    ' saved_refs = refs_version',
)
const SAVE_REF = heldChange(
  'refs_version = refs_version + CASE refs_version WHEN saved_refs THEN 1 ELSE 0 END',
)

const CLEAR_JOURNAL = 'DELETE FROM helix_journal WHERE session = ?'
const ADD_ENTRY =
  'INSERT INTO helix_journal (session, position, tool_call_id, entry, result)' +
  ' VALUES (?, ?, ?, ?, ?)'
const SET_RESULT =
  'UPDATE helix_journal SET result = ? WHERE session = ? AND position = (SELECT min(position)' +
  ' FROM helix_journal WHERE session = ? AND position < ? AND tool_call_id = ?)' +
  ' RETURNING position'
const JOURNAL =
  'SELECT entry, result FROM helix_journal WHERE session = ? AND position < ? ORDER BY position'
const ADD_CHECKPOINT =
  'INSERT INTO helix_checkpoints (session, step_count, checkpoint_id, message_count,' +
  ' state_version, refs_version, status, created_at)' +
  ' SELECT id, step_count, ?, message_count, state_version, refs_version, status, updated_at' +
  ' FROM helix_sessions WHERE id = ?'

/** A write as far as it can be prepared before its transaction; the rest of it is `apply`. */
export type PreparedWrite = (sql: SqlStatements) => void

export function prepareAppend(append: MessageAppend): PreparedWrite {
  const texts = toMessageTexts(append.messages)
  const change = toStoredChange(append)
  return (sql) => {
    const values = [append.now, texts.length, hasState(change)]
    const session = updateHeld(sql, append, APPEND, values)
    addMessages(sql, session, texts)
    applyChange(sql, session, change)
  }
}

export function prepareBeginStep(step: StepStart): PreparedWrite {
  const texts = toMessageTexts(step.messages)
  const entries = step.journal.map(toEntryTexts)
  const { usage } = step
  const change = toStoredChange({ ...(usage !== undefined && { usage }) })
  return (sql) => {
    const values = [step.now, texts.length, entries.length]
    const session = updateHeld(sql, step, BEGIN, values)
    sql.run(CLEAR_JOURNAL, session.id)
    addMessages(sql, session, texts)
    for (const [position, { toolCallId, ...stored }] of entries.entries()) {
      const entry = keepText(sql, stored.entry)
      const result = keepText(sql, stored.result)
      sql.run(ADD_ENTRY, session.id, position, toolCallId, entry, result)
    }
    applyChange(sql, session, change)
  }
}

interface EntryTexts {
  readonly toolCallId: string
  readonly entry: string
  readonly result: string | null
}

function toEntryTexts(entry: JournalEntry): EntryTexts {
  return {
    toolCallId: toSqlText(entry.toolCallId),
    entry: toEntryJson(entry),
    result: entry.result === undefined ? null : toResultJson(entry.result),
  }
}

export function prepareCompleteToolCall(completion: ToolCallCompletion): PreparedWrite {
  const { sessionId, now } = completion
  const result = toResultJson(completion.result)
  const toolCallId = toSqlText(completion.toolCallId)
  const change = toStoredChange(completion)
  return (sql) => {
    const session = updateHeld(sql, completion, COMPLETE, [now, hasState(change)])
    const { id, journalCount } = session
    const text = keepText(sql, result)
    if (sql.get(SET_RESULT, text, id, id, journalCount, toolCallId) === undefined) {
      throw new StateStoreError('not-found', sessionId, 'the call is not in the journal')
    }
    settleRequestOf(sql, session, { toolCallId, now })
    applyChange(sql, session, change)
  }
}

export function prepareCommitStep(commit: StepCommit): PreparedWrite {
  const texts = toMessageTexts(commit.messages)
  const change = toStoredChange(commit)
  const outcome = toJsonText(commit.outcome)
  const checkpointId = toSqlText(commit.checkpointId)
  const files = toStoredFiles(commit)
  return (sql) => {
    const hasChanged = hasState(change)
    const values = [commit.now, texts.length, keepText(sql, outcome), hasChanged, hasChanged]
    const session = updateHeld(sql, commit, COMMIT, values)
    addMessages(sql, session, texts)
    applyChange(sql, session, change)
    settleRequests(sql, session, commit.now)
    evictBefore(sql, session.id, commit.evictBefore)
    saveFiles(sql, session.id, files)
    sql.run(ADD_CHECKPOINT, checkpointId, session.id)
  }
}

/** The calls of the step that is under way: a finished one leaves none. */
export function loadJournal(sql: SqlStatements, sessionId: string): readonly JournalEntry[] {
  const { id, journalCount } = findSession(sql, sessionId)
  if (journalCount === 0) return []
  const rows = sql.all(JOURNAL, id, journalCount)
  if (rows.length !== journalCount) throw damaged('journal')
  return rows.map(toJournalEntry)
}

export function saveWorkspaceRef(sql: SqlStatements, write: WorkspaceRefWrite): void {
  const { now } = write
  const { id, refsVersion } = updateHeld(sql, write, SAVE_REF, [now])
  const before = loadRefs(sql, id, refsVersion)
  const after = withRef(before, write.workspace, write.ref)
  saveRefs(sql, id, refsVersion, after)
  if (write.releasesOld === true) releaseReplaced(sql, id, { before, after, now })
}
