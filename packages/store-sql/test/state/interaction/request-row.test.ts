import type { RequestResolution, SessionRequest } from '@helix-agents/core/runtime'
import type { SqlRow } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { toAskedText, toSessionRequest } from '../../../src/state/interaction/request-row.ts'
import { spoiledOf } from '../columns/spoiled.ts'

const request: SessionRequest = {
  requestId: 'q',
  sessionId: 's',
  askingSessionId: 's/s1-0',
  agentPath: ['a', 'b'],
  kind: 'approval',
  toolCallId: 'c',
  toolName: 't',
  arguments: '{}',
  preview: { title: 't', body: 'b', format: 'diff', truncated: true },
  subject: 'it',
  createdAt: 1,
  expiresAt: 2,
}
const rowOf = (given: unknown, resolution: unknown = null, more: SqlRow = {}): SqlRow => ({
  request: JSON.stringify(given),
  resolution: resolution === null ? null : JSON.stringify(resolution),
  started_at: null,
  replaced_by: null,
  ...more,
})

/** JSON has no symbols: what is bad is text where none may be, else a number. */
function asJson(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'symbol' ? { bad: true } : part)),
  )
}

const isRead = (row: SqlRow): boolean => {
  try {
    toSessionRequest(row)
    return true
  } catch (error) {
    expect(error).toMatchObject({ name: 'SqlError', kind: 'corrupt' })
    return false
  }
}

test('a request comes back as it was asked, with what has become of it', () => {
  const { body: _, format: __, truncated: ___, ...preview } = request.preview
  for (const kind of ['approval', 'question', 'client-tool'] as const) {
    const asked = { ...request, kind, preview }
    expect(toSessionRequest(rowOf(asked))).toEqual(asked)
  }
  for (const format of ['diff', 'text', 'json'] as const) {
    const asked = { ...request, preview: { ...request.preview, format } }
    expect(toSessionRequest(rowOf(asked))).toEqual(asked)
  }
  const resolution = { decision: 'deny', reason: 'no', at: 3 } as const
  const more = { started_at: 4, replaced_by: 'q2' }
  const whole = { ...request, resolution, startedAt: 4, replacedBy: 'q2' }
  expect(toSessionRequest(rowOf(request, resolution, more))).toEqual(whole)
  expect(JSON.parse(toAskedText(whole))).toEqual(request)
})

const OPTIONAL = ['preview.body', 'preview.format', 'preview.truncated', 'subject', 'expiresAt']

test('each part of a request counts', () => {
  for (const { path, isMissing, value } of spoiledOf(request)) {
    const isGood = isMissing && OPTIONAL.includes(path)
    expect([path, isMissing, isRead(rowOf(asJson(value)))]).toEqual([path, isMissing, isGood])
  }
  expect(isRead(rowOf({ ...request, kind: 'other' }))).toBe(false)
  const preview = { ...request.preview, format: 'html' }
  expect(isRead(rowOf({ ...request, preview }))).toBe(false)
})

const RESOLUTIONS: readonly (readonly [RequestResolution, readonly string[]])[] = [
  [
    {
      decision: 'approve',
      editedArguments: '{}',
      remember: 'session',
      reason: 'r',
      by: 'b',
      at: 1,
    },
    ['editedArguments', 'remember', 'reason', 'by'],
  ],
  [{ decision: 'deny', reason: 'r', by: 'b', at: 1 }, ['reason', 'by']],
  [{ decision: 'output', output: 1, by: 'b', at: 1 }, ['by']],
  [{ decision: 'expired', by: 'b', at: 1 }, ['by']],
  [{ decision: 'cancelled', by: 'b', at: 1 }, ['by']],
]

test.each(RESOLUTIONS)('each part of an answer counts: %j', (resolution, optional) => {
  expect(toSessionRequest(rowOf(request, resolution)).resolution).toEqual(resolution)
  for (const { path, isMissing, value } of spoiledOf(resolution)) {
    const isGood = isMissing ? optional.includes(path) : path === 'output'
    const isAnswer = isRead(rowOf(request, asJson(value)))
    expect([path, isMissing, isAnswer]).toEqual([path, isMissing, isGood])
  }
})

test('an answer of another kind is none', () => {
  expect(isRead(rowOf(request, { decision: 'later', at: 1 }))).toBe(false)
  expect(isRead(rowOf(request, { decision: 'approve', remember: 'always', at: 1 }))).toBe(false)
})
