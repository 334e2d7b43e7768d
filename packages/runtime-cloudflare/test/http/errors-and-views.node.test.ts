// What a client is told of an error, and of a session.
import {
  AgentAlreadyRunningError,
  AgentDefinitionError,
  type HelixError,
  SessionError,
  StateStoreError,
  ToolFailedError,
} from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { CallerPlaces } from '../../src/http/caller-places.ts'
import {
  isCorrupt,
  isUnavailable,
  notFound,
  RequestError,
  toErrorResponse,
  toRefusal,
  withoutSqlite,
} from '../../src/http/http-error.ts'
import {
  linksOf,
  toCheckpointView,
  toMessageView,
  toRequestView,
  toSessionView,
} from '../../src/http/session-view.ts'

const told = (error: unknown) => {
  const logger = new RecordingLogger()
  const { status, body, headers } = toRefusal(error, logger, { path: '/x' })
  return { status, error: body.error, headers, lines: logger.lines }
}

const of = (code: 'unavailable' | 'corrupt') => new StateStoreError(code, 's', 'no')

describe('an error', () => {
  test.each<readonly [HelixError, number]>([
    [new AgentAlreadyRunningError('s'), 409],
    [new AgentDefinitionError('the state', ['it is none']), 400],
    [new SessionError('invalid-message', 's', 'no'), 400],
    [new SessionError('invalid-answer', 's', 'no'), 400],
    [new SessionError('other-agent', 's', 'no'), 404],
    [new SessionError('unknown-request', 's', 'no'), 404],
    [new SessionError('not-resumable', 's', 'no'), 409],
    [new SessionError('waiting', 's', 'no'), 409],
    [new StateStoreError('not-found', 's', 'no'), 404],
    [new StateStoreError('invalid-query', 's', 'no'), 400],
    [new StateStoreError('conflict', 's', 'no'), 409],
    [new StateStoreError('not-storable', 's', 'no'), 400],
  ])('%s is told as %d', (error, status) => {
    const { code, message } = error
    expect(told(error)).toEqual({ status, error: { code, message }, headers: undefined, lines: [] })
  })

  test.each<readonly [unknown, number, string]>([
    [new StateStoreError('unavailable', 's', 'the disk at /var is full'), 503, 'unavailable'],
    [new StateStoreError('corrupt', 's', 'row 7'), 500, 'corrupt'],
    [new StateStoreError('schema-version', 's', 'v9'), 500, 'schema-version'],
    [new ToolFailedError('tool-failed', 'secret'), 500, 'tool-failed'],
    [new Error('secret'), 500, 'internal'],
    ['text', 500, 'internal'],
  ])('%s is for the log: %d %s', (err, status, code) => {
    expect(told(err)).toEqual({
      status,
      error: { code, message: 'the server failed; its log has the reason' },
      headers: undefined,
      lines: [{ level: 'error', message: 'request failed', fields: { path: '/x', err } }],
    })
  })

  test('that refuses a request is sent as it is', async () => {
    const plain = new RequestError(418, 'teapot', 'no coffee')
    expect(told(plain)).toEqual({
      status: 418,
      error: { code: 'teapot', message: 'no coffee' },
      headers: {},
      lines: [],
    })
    const details = { issues: [] }
    const full = new RequestError(400, 'bad', 'no', { details, headers: { allow: 'GET' } })
    const response = toErrorResponse(toRefusal(full, new RecordingLogger(), {}))
    expect([response.status, response.headers.get('allow'), await response.json()]).toEqual([
      400,
      'GET',
      { error: { code: 'bad', message: 'no', details } },
    ])
    expect(notFound('route')).toMatchObject({ status: 404, message: 'there is no such route' })
    expect(withoutSqlite()).toMatchObject({ status: 500, code: 'sqlite-missing' })
  })

  test('of the store is known by its code', () => {
    expect([isUnavailable(of('unavailable')), isUnavailable(of('corrupt'))]).toEqual([true, false])
    expect([isCorrupt(of('corrupt')), isCorrupt(of('unavailable'))]).toEqual([true, false])
    expect([isUnavailable(new Error('x')), isCorrupt(undefined)]).toEqual([false, false])
  })
})

test('places are given back once, and who gets none is told when to come again', () => {
  const places = new CallerPlaces({ max: 2, code: 'too-many', what: 'bodies' })
  const leave = places.take({})
  places.take({ userId: 'ann' })
  expect(() => places.take({})).toThrow(
    expect.objectContaining({
      status: 429,
      code: 'too-many',
      message: 'the session has too many bodies, in all or of this caller: 2',
      headers: { 'retry-after': '5' },
    }),
  )
  leave()
  leave()
  places.take({})
  expect(() => places.take({})).toThrow('too many bodies')
})

test('views show what clients may know', () => {
  const links = {
    self: '/a/state',
    messages: '/a/messages',
    stream: '/a/stream',
    requests: '/a/requests',
  }
  expect(linksOf('/a')).toEqual(links)
  const shown = {
    sessionId: 's',
    status: 'completed',
    stepCount: 1,
    messageCount: 2,
    createdAt: 3,
    updatedAt: 4,
  }
  const ref = { providerId: 'p', schemaVersion: 1, capabilities: {}, ref: { secret: 1 } }
  const session = {
    ...shown,
    agentType: 'a',
    workspaceRefs: { box: ref },
    customState: {},
  } as never
  const view = { ...shown, agent: 'a', workspaces: [{ name: 'box', provider: 'p' }], links }
  expect(toSessionView(session, '/a')).toEqual(view)
  const more = { output: 'x', error: { code: 'c', message: 'm' } }
  expect(toSessionView({ ...(session as object), ...more } as never, '/a')).toEqual({
    ...view,
    ...more,
  })
  const data = Uint8Array.of(1, 2, 3)
  expect(toMessageView({ role: 'user', content: 'x', data } as never)).toEqual({
    role: 'user',
    content: 'x',
    data: { bytes: 3 },
  })
  const checkpoint = { id: 'c', stepCount: 1, messageCount: 2, status: 'running', createdAt: 3 }
  expect(toCheckpointView({ ...checkpoint, customState: 1, workspaceRefs: {} } as never)).toEqual(
    checkpoint,
  )
  const request = { requestId: 'r', subject: 'x', preview: { title: 't', basis: 'b' } }
  expect(toRequestView(request as never)).toEqual({ requestId: 'r', preview: { title: 't' } })
})
