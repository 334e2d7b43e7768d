import type { Logger } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { createHarness, createGate, json, JSON_TYPE, waitThenSay } from './harness.ts'

interface Issues {
  readonly error: { readonly details: { readonly issues: readonly { readonly path: string }[] } }
}

describe('what is refused', () => {
  test.each([
    ['POST', '/sessions', '{"message":', 400, 'invalid-json'],
    ['POST', '/sessions', '', 400, 'invalid-request'],
    ['POST', '/sessions', '[]', 400, 'invalid-request'],
    ['POST', '/sessions', '{"message":""}', 400, 'invalid-request'],
    ['POST', '/sessions', '{"message":"a","sessionId":"../etc"}', 400, 'invalid-request'],
    ['POST', '/sessions', '{"message":"a","tenant":"b"}', 400, 'invalid-request'],
    ['GET', '/sessions/s/messages?limit=0', null, 400, 'invalid-request'],
    ['GET', '/sessions/s/messages?offset=-1', null, 400, 'invalid-request'],
    ['GET', '/sessions/s/messages?limit=many', null, 400, 'invalid-request'],
    ['POST', '/sessions', '{"message":"a","sessionId":"s"}', 409, 'session-exists'],
    ['GET', '/sessions/none', null, 404, 'not-found'],
    ['GET', '/sessions/none/messages', null, 404, 'not-found'],
    ['GET', '/sessions/none/stream', null, 404, 'not-found'],
    ['POST', '/sessions/none/messages', '{"message":"a"}', 404, 'not-found'],
    ['POST', '/sessions/none/interrupt', null, 404, 'not-found'],
    ['POST', '/sessions/none/abort', null, 404, 'not-found'],
    ['POST', '/sessions/none/resume', null, 404, 'not-found'],
    ['GET', `/sessions/${'x'.repeat(65)}`, null, 400, 'invalid-session-id'],
    ['GET', `/sessions/${'x'.repeat(100_000)}/stream`, null, 400, 'invalid-session-id'],
    ['GET', '/sessions/a%20b/messages', null, 400, 'invalid-session-id'],
    ['POST', '/sessions/a%00/abort', null, 400, 'invalid-session-id'],
    ['POST', `/sessions/${'x'.repeat(65)}/messages`, '{"message":"a"}', 400, 'invalid-session-id'],
    ['GET', `/healthz/${'x'.repeat(65)}`, null, 400, 'invalid-session-id'],
    ['GET', '/nowhere', null, 404, 'not-found'],
    ['GET', '/sessions', null, 405, 'method-not-allowed'],
    ['DELETE', '/sessions/s', null, 405, 'method-not-allowed'],
    ['POST', '/healthz', null, 405, 'method-not-allowed'],
  ])('%s %s %s is %i %s', async (...row) => {
    const [method, path, body, status, code] = row
    const { app, post, ended } = createHarness()
    await post('/sessions', { message: 'hello', sessionId: 's' })
    await ended('s')
    const response = app.request(path, {
      method,
      ...(body !== null && { body, headers: JSON_TYPE }),
    })
    const answer = await json(response)
    expect(answer).toMatchObject({ status, body: { error: { message: expect.any(String), code } } })
    expect((await response).headers.get('content-type')).toMatch(/^application\/json/)
    expect((await response).headers.has('allow')).toBe(status === 405)
  })

  test('names each bad field', async () => {
    const { post } = createHarness()
    const { body } = await json<Issues>(post('/sessions', { message: 1, sessionId: '' }))
    const paths = body.error.details.issues.map(({ path }) => path)
    expect(paths).toEqual(['message', 'sessionId'])
  })

  test('a body that is too large', async () => {
    const { post } = createHarness({ app: { maxBodyBytes: 1000 } })
    const answer = await json(post('/sessions', { message: 'a'.repeat(2000) }))
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'too-large' } } })
  })

  test('a body of unknown length that is too large', async () => {
    const { app } = createHarness({ app: { maxBodyBytes: 1000 } })
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        controller.enqueue(new Uint8Array(600))
      },
    })
    const init = { method: 'POST', body, duplex: 'half', headers: JSON_TYPE } as RequestInit
    const response = await app.request('/sessions', init)
    expect(response.status).toBe(413)
    expect(pulled).toBeLessThan(10)
  })

  test('bodies that do not end are so many and no more, and not for long', async () => {
    const clock = new ManualClock()
    const { app, post } = createHarness({ app: { clock, maxUnreadBodies: 3, bodyTimeoutMs: 1000 } })
    const begin = () => {
      const body = new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) })
      const init = { method: 'POST', body, duplex: 'half', headers: JSON_TYPE } as RequestInit
      return json(app.request('/sessions', init))
    }
    const open = [begin(), begin(), begin()]
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(3), { timeout: 60_000 })
    const refused = await json(post('/sessions', { message: 'hello' }))
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'too-many-requests' } } })
    await clock.advance(1000)
    for (const answer of await Promise.all(open)) {
      expect(answer).toMatchObject({ status: 408, body: { error: { code: 'body-timeout' } } })
    }
    expect((await post('/sessions', { message: 'hello' })).status).toBe(202)
  })

  test('a second writer of a session', async () => {
    const { tool, begun, open } = createGate()
    const { post, ended } = createHarness({ tools: [tool], brain: waitThenSay })
    await post('/sessions', { message: 'go', sessionId: 's' })
    await begun
    for (const path of ['messages', 'resume']) {
      const answer = await json(post(`/sessions/s/${path}`, { message: 'me too' }))
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'already-running' } } })
    }
    open()
    await ended('s')
  })

  test('new work while the server stops', async () => {
    const { post, get, ended, closing } = createHarness()
    await post('/sessions', { message: 'hello', sessionId: 's' })
    await ended('s')
    closing.abort()
    const answer = await json(post('/sessions', { message: 'hello' }))
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'stopping' } } })
    expect((await get('/sessions/s')).status).toBe(200)
  })

  test('a session of another agent is not there', async () => {
    const { stateStore, get } = createHarness()
    await stateStore.createSession({ sessionId: 'x', agentType: 'b', customState: 1, now: 1 })
    expect((await get('/sessions/x')).status).toBe(404)
    expect((await get('/sessions/x/stream')).status).toBe(404)
  })

  test('an error of the server tells the client nothing, and the log everything', async () => {
    const lines: object[] = []
    const log = (fields: object) => void lines.push(fields)
    const logger: Logger = { debug: log, info: log, warn: log, error: log }
    const failure = new Error('secret path /home/me')
    const { get } = createHarness({
      app: { logger, metrics: { contentType: 'text/plain', text: () => Promise.reject(failure) } },
    })
    expect(await json(get('/metrics'))).toEqual({
      status: 500,
      body: { error: { code: 'internal', message: 'the server failed; its log has the reason' } },
    })
    expect(lines).toEqual([{ err: failure, method: 'GET', path: '/metrics' }])
  })
})

describe('a page of another site', () => {
  const body = '{"message":"hello"}'

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json', 202],
    ['application/json; charset=utf-8', 202],
  ])('may send %s, which is %i', async (type, status) => {
    const { app } = createHarness()
    const headers = { 'content-type': type }
    expect((await app.request('/sessions', { method: 'POST', body, headers })).status).toBe(status)
  })

  test.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost:1', 403],
    ['http://localhost', 202],
  ])('of %s that starts a session gets %i', async (origin, status) => {
    const { app } = createHarness()
    const headers = { ...JSON_TYPE, origin }
    expect((await app.request('/sessions', { method: 'POST', body, headers })).status).toBe(status)
  })

  test.each([
    ['http://localhost:8787', undefined, 200],
    ['http://127.0.0.1:8787', undefined, 200],
    ['http://[::1]:8787', undefined, 200],
    ['http://evil.example:8787', undefined, 403],
    ['http://127.0.0.1.evil.example', undefined, 403],
    ['http://localhost', 'evil.example', 403],
    ['http://localhost', 'evil.example:8787', 403],
    ['http://localhost', '@', 403],
  ])('whose name leads to this machine: %s, Host %s, is %i', async (url, host, status) => {
    const { app, get } = createHarness()
    await get('/healthz')
    const headers = host === undefined ? {} : { host }
    expect((await app.request(`${url}/healthz`, { headers })).status).toBe(status)
  })

  test('is kept out by the token under every name', async () => {
    const { app } = createHarness({ app: { token: 'correct-horse-battery' } })
    expect((await app.request('http://agents.example/healthz')).status).toBe(200)
    expect((await app.request('http://agents.example/metrics')).status).toBe(401)
  })
})

describe('the token', () => {
  const token = 'correct-horse-battery'

  test.each([
    [undefined, 401],
    ['', 401],
    [token, 401],
    [`Basic ${token}`, 401],
    ['Bearer', 401],
    ['Bearer wrong', 401],
    [`Bearer ${token}x`, 401],
    [`Bearer ${token}`, 404],
  ])('with authorization %j the answer is %i', async (authorization, status) => {
    const { get } = createHarness({ app: { token } })
    const headers = authorization === undefined ? {} : { authorization }
    for (const path of ['/sessions/s', '/healthz/s', '/nowhere']) {
      const response = await get(path, headers)
      expect(response.status).toBe(status)
      expect(response.headers.has('www-authenticate')).toBe(status === 401)
      expect(await response.json()).toHaveProperty('error')
    }
    expect((await get('/metrics', headers)).status).toBe(status === 404 ? 200 : 401)
  })

  test('is not asked of a probe', async () => {
    const { get } = createHarness({ app: { token } })
    expect((await get('/healthz')).status).toBe(200)
  })
})
