import { StateStoreError } from '@helix-agents/core'
import type { RequestResolution, RunWrite, SessionRequest } from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '../../sql-database.ts'
import { toSqlText } from '../../sql-text.ts'
import { numberColumn, optionalColumn } from '../columns/column.ts'
import { keepText } from '../columns/long-texts.ts'
import { findSession, heldChange, type SessionRow, updateHeld } from '../session-row.ts'
import { toAskedText, toSessionRequest } from './request-row.ts'

const ASK = heldChange('asked = asked + ?')
const ASK_AT_ROOT = 'UPDATE helix_sessions SET asked = asked + 1 WHERE id = ?'
const ADD =
  'INSERT INTO helix_requests (request_id, session, asking, tool_call_id, is_live, request,' +
  ' expires_at) VALUES (?, ?, ?, ?, 1, ?, ?)'
const HAS_ID = 'SELECT 1 FROM helix_requests WHERE request_id = ?'
const FIND =
  'SELECT r.* FROM helix_requests r JOIN helix_sessions s ON s.id = r.session' +
  ' WHERE r.request_id = ? AND s.session_id = ?'
const LOCK = 'SELECT 1 FROM helix_requests WHERE request_id = ? FOR UPDATE'
const LIVE = 'SELECT * FROM helix_requests WHERE asking = ? AND is_live = 1'
const LIVE_IN_ORDER = `${LIVE} ORDER BY id`
const LIVE_OF_CALL = `${LIVE} AND tool_call_id = ?`
const LIVE_BY_ID = `${LIVE} AND request_id = ?`
const RESOLVE =
  'UPDATE helix_requests SET decision = ?, resolution = ?, remembered = ? WHERE id = ?'
const IS_REMEMBERED = 'SELECT 1 FROM helix_requests WHERE session = ? AND remembered = ?'
const START = heldChange('')
const START_REQUEST =
  'UPDATE helix_requests SET started_at = ? WHERE request_id = ? AND asking = ? AND is_live = 1' +
  " AND decision = 'approve' AND started_at IS NULL RETURNING id"
/** Ends requests: their calls have results, or are gone. Its values: the resolution of open ones. */
const SETTLE =
  "UPDATE helix_requests SET is_live = 0, decision = coalesce(decision, 'cancelled')," +
  ' resolution = coalesce(resolution, ?)'
const SETTLE_ALL = `${SETTLE} WHERE is_live = 1 AND (session = ? OR asking = ?)`
const SETTLE_CALL = `${SETTLE} WHERE is_live = 1 AND asking = ? AND tool_call_id = ?`
const SETTLE_REPLACED = `${SETTLE}, replaced_by = ? WHERE id = ?`
const NONE_ASKED = 'UPDATE helix_sessions SET asked = 0 WHERE id = ?'

/** Requests of one step, and the run that stores them. */
export type RequestsToAdd = RunWrite & { readonly requests: readonly SessionRequest[] }

/** A write as far as it can be prepared before its transaction. */
export type PreparedResult<T> = (sql: SqlStatements) => T

export function prepareAddRequests(add: RequestsToAdd): PreparedResult<readonly SessionRequest[]> {
  const asked = add.requests.map((request) => ({ request, text: toAskedText(request) }))
  for (const { request } of asked) assertAskedBy(add, request)
  return (sql) => {
    const { id } = updateHeld(sql, add, ASK, [add.now, asked.length])
    const placed = asked.map((one) => ({ ...one, place: placeOf(sql, id, one.request) }))
    return placed.map((one) => {
      const row = sql.get(LIVE_OF_CALL, id, toSqlText(one.request.toolCallId))
      return row === undefined ? addRequest(sql, one) : toSessionRequest(row)
    })
  }
}

function assertAskedBy({ sessionId }: RunWrite, { askingSessionId }: SessionRequest): void {
  if (askingSessionId === sessionId) return
  throw new StateStoreError('not-storable', sessionId, 'the request is one of another session')
}

/** The rows of the sessions that ask and that list a request. */
interface RequestPlace {
  readonly asking: number
  readonly session: number
}

function placeOf(
  sql: SqlStatements,
  asking: number,
  { sessionId, askingSessionId }: SessionRequest,
): RequestPlace {
  const isOwn = sessionId === askingSessionId
  return { asking, session: isOwn ? asking : findSession(sql, sessionId).id }
}

interface PlacedRequest {
  readonly request: SessionRequest
  readonly text: string
  readonly place: RequestPlace
}

function addRequest(sql: SqlStatements, { request, text, place }: PlacedRequest): SessionRequest {
  const { askingSessionId, toolCallId, expiresAt } = request
  const { asking, session } = place
  const requestId = toSqlText(request.requestId)
  if (sql.get(HAS_ID, requestId) !== undefined) {
    throw new StateStoreError('conflict', askingSessionId, 'another request has the id')
  }
  if (session !== asking) sql.run(ASK_AT_ROOT, session)
  const names = [requestId, session, asking, toSqlText(toolCallId)]
  sql.run(ADD, ...names, keepText(sql, text), expiresAt ?? null)
  const { resolution: _, startedAt: __, replacedBy: ___, ...open } = request
  return open
}

/** `undefined` for an unknown request, and for one of another session. */
export function getRequest(
  sql: SqlStatements,
  sessionId: string,
  requestId: string,
): SessionRequest | undefined {
  const row = findRequest(sql, sessionId, requestId)
  return row === undefined ? undefined : toSessionRequest(row)
}

function findRequest(sql: SqlStatements, sessionId: string, requestId: string): SqlRow | undefined {
  return sql.get(FIND, toSqlText(requestId), toSqlText(sessionId))
}

/** The live requests of one asking session, in the order they were made. */
export function loadRequests(
  sql: SqlStatements,
  askingSessionId: string,
): readonly SessionRequest[] {
  const { id, asked } = findSession(sql, askingSessionId)
  return asked === 0 ? [] : sql.all(LIVE_IN_ORDER, id).map(toSessionRequest)
}

/** An answer as it is given. */
export interface Resolve {
  readonly sessionId: string
  readonly requestId: string
  readonly resolution: RequestResolution
}

export interface Resolved {
  readonly request: SessionRequest
  readonly isFirst: boolean
}

export function prepareResolve({
  sessionId,
  requestId,
  resolution,
}: Resolve): PreparedResult<Resolved> {
  const text = JSON.stringify(resolution)
  return (sql) => {
    sql.server?.lock(LOCK, toSqlText(requestId))
    const row = findRequest(sql, sessionId, requestId)
    if (row === undefined) throw new StateStoreError('not-found', sessionId, 'no such request')
    const request = toSessionRequest(row)
    if (request.resolution !== undefined) return { request, isFirst: false }
    const id = numberColumn(row, 'id')
    if (isTooLate(request, resolution)) {
      const expired = { decision: 'expired', at: resolution.at } as const
      sql.run(RESOLVE, expired.decision, JSON.stringify(expired), null, id)
      return { request: { ...request, resolution: expired }, isFirst: false }
    }
    const remembered = rememberedSubject(request, resolution)
    sql.run(RESOLVE, resolution.decision, keepText(sql, text), remembered, id)
    return { request: { ...request, resolution }, isFirst: true }
  }
}

/** An answer is; what says itself that there is none is not. */
function isTooLate({ expiresAt }: SessionRequest, { decision, at }: RequestResolution): boolean {
  if (decision === 'expired' || decision === 'cancelled') return false
  return expiresAt !== undefined && expiresAt <= at
}

function rememberedSubject(
  { subject }: SessionRequest,
  resolution: RequestResolution,
): string | null {
  if (subject === undefined || resolution.decision !== 'approve') return null
  const { remember, editedArguments } = resolution
  return remember === 'session' && editedArguments === undefined ? toSqlText(subject) : null
}

/** Whether an approval of this subject holds for the rest of the session. */
export function isRemembered(sql: SqlStatements, sessionId: string, subject: string): boolean {
  return sql.get(IS_REMEMBERED, findSession(sql, sessionId).id, toSqlText(subject)) !== undefined
}

/** Whether the call of an approved request was not started before. */
export function startRequest(
  sql: SqlStatements,
  write: RunWrite & { readonly requestId: string },
): boolean {
  const { id } = updateHeld(sql, write, START, [write.now])
  return sql.get(START_REQUEST, write.now, toSqlText(write.requestId), id) !== undefined
}

export type Replacement = RunWrite & {
  readonly requestId: string
  readonly request: SessionRequest
}

export function prepareReplace(replacement: Replacement): PreparedResult<void> {
  const { sessionId, request, now } = replacement
  const text = toAskedText(request)
  assertAskedBy(replacement, request)
  return (sql) => {
    const { id } = updateHeld(sql, replacement, ASK, [now, 1])
    const place = placeOf(sql, id, request)
    const old = sql.get(LIVE_BY_ID, id, toSqlText(replacement.requestId))
    if (old === undefined || optionalColumn(old, 'started_at', numberColumn) !== undefined) {
      throw new StateStoreError('conflict', sessionId, 'the request cannot be replaced any more')
    }
    const names = [toSqlText(request.requestId), numberColumn(old, 'id')]
    sql.run(SETTLE_REPLACED, cancelledAt(now), ...names)
    addRequest(sql, { request, text, place })
  }
}

/** Ends all live requests that a session asks or lists. An agent that never asks pays nothing. */
export function settleRequests(sql: SqlStatements, { id, asked }: SessionRow, now: number): void {
  if (asked === 0) return
  sql.run(SETTLE_ALL, cancelledAt(now), id, id)
  sql.run(NONE_ASKED, id)
}

/** Ends the request of a call that has its result; the id is as it is stored. */
export function settleRequestOf(
  sql: SqlStatements,
  { id, asked }: SessionRow,
  call: { readonly toolCallId: string; readonly now: number },
): void {
  if (asked > 0) sql.run(SETTLE_CALL, cancelledAt(call.now), id, call.toolCallId)
}

function cancelledAt(at: number): string {
  return JSON.stringify({ decision: 'cancelled', at } satisfies RequestResolution)
}
