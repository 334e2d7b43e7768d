// The answer to each failure: its status, what the caller is told, and what the log of the server has.
import { RecordingLogger } from '@helix-agents/core/testing'
import { FleetError } from '@helix-agents/core/runtime'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, test } from 'vitest'
import { answerFailure, answerUnknown, bodyOf } from '../../src/http/failures.ts'

/** The answer of a server in which an error is thrown, and what it logs. */
async function answerTo(error: Error) {
  const logger = new RecordingLogger()
  const app = new Hono()
  app.get('/', () => {
    throw error
  })
  app.onError((thrown, context) => answerFailure(thrown, context, logger))
  const response = await app.request('/')
  return { status: response.status, body: await response.json(), logged: logger.lines }
}

describe('an error of the fleet', () => {
  test.each([
    ['capacity-exhausted', 429],
    ['invalid-transition', 409],
    ['unknown-sandbox', 404],
    ['already-exists', 409],
    ['invalid-record', 400],
    ['invalid-query', 400],
    ['conflict', 409],
    ['lease-lost', 409],
    ['breaker-open', 503],
    ['driver-failed', 502],
    ['not-supported', 501],
    ['operation-timeout', 504],
    ['unavailable', 503],
    ['corrupt', 500],
    ['schema-version', 500],
    ['config-invalid', 500],
  ] as const)('%s: %d', async (code, status) => {
    const error = new FleetError(code, 'of the test')
    const answer = await answerTo(error)
    expect(answer).toMatchObject({ status, body: { error: { code, message: error.message } } })
    const entry = { level: 'error', message: 'fleet request failed', fields: { err: error } }
    expect(answer.logged).toEqual(status >= 500 ? [entry] : [])
  })
})

test('an answer that a handler throws keeps its status', async () => {
  const { logged, ...answer } = await answerTo(new HTTPException(418, { message: 'a teapot' }))
  const body = { error: { code: 'bad-request', message: 'a teapot' } }
  expect(answer).toEqual({ status: 418, body })
  expect(logged).toEqual([])
})

test('any other error is in the log alone', async () => {
  const error = new Error('password=hunter2')
  const { logged, ...answer } = await answerTo(error)
  const message = 'the request failed; the log of the server says why'
  expect(answer).toEqual({ status: 500, body: { error: { code: 'internal', message } } })
  expect(logged).toEqual([
    {
      level: 'error',
      message: 'fleet request failed',
      fields: { err: error },
    },
  ])
})

test('a body has details when there are some', () => {
  expect(bodyOf('a', 'b')).toStrictEqual({ error: { code: 'a', message: 'b' } })
  expect(bodyOf('a', 'b', { c: 1 })).toEqual({
    error: { code: 'a', message: 'b', details: { c: 1 } },
  })
})

describe('where no route matches', () => {
  const app = new Hono().notFound(answerUnknown)

  test.each([
    ['/api/sandbox/cleanup', 'POST'],
    ['/api/sandbox/cleanup/emergency', 'POST'],
    ['/ops/api/sandbox/reconcile', 'POST'],
    ['/api/sandbox/stats', 'GET'],
    ['/api/sandbox/list', 'GET'],
    ['/api/sandbox/one/logs', 'GET'],
    ['/api/sandbox/one/resources', 'GET'],
    ['/api/sandbox/one', 'GET, DELETE'],
    ['/metrics', 'GET'],
    ['/openapi.json', 'GET'],
    ['/dashboard.js', 'GET'],
    ['/dashboard.css', 'GET'],
    ['/', 'GET'],
  ])('%s is for %s', async (path, allow) => {
    const response = await app.request(path, { method: 'PUT' })
    expect([response.status, response.headers.get('Allow')]).toEqual([405, allow])
    const message = `use ${allow}`
    expect(await response.json()).toEqual({ error: { code: 'method-not-allowed', message } })
    const known = await app.request(path, { method: allow.split(', ')[0] ?? '' })
    expect([known.status, known.headers.get('Allow')]).toEqual([404, null])
  })

  test.each(['/api/sandbox/cleanup/x', '/api/sandbox/one/x', '/dashboard.html', '/x'])(
    '%s is nothing',
    async (path) => {
      const response = await app.request(path, { method: 'PUT' })
      expect([response.status, await response.json()]).toEqual([
        404,
        { error: { code: 'not-found', message: 'no such route' } },
      ])
    },
  )
})
