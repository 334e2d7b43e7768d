import { evictDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { createGate, say, use, waitTool } from '../scripts.ts'
import { answerOf, createSession, inObject } from '../session.ts'
import { lines } from '../worker.ts'

const KNOWN = 'known'

describe('what is refused', () => {
  test.each([
    ['POST', '/start', '{"message":', 400, 'invalid-json'],
    ['POST', '/start', '', 400, 'invalid-request'],
    ['POST', '/start', '[]', 400, 'invalid-request'],
    ['POST', '/start', '{"message":""}', 400, 'invalid-request'],
    ['POST', '/start', '{"message":1}', 400, 'invalid-request'],
    ['POST', '/start', '{"message":"a","state":[]}', 400, 'invalid-request'],
    ['POST', '/start', '{"message":"a","sessionId":"b"}', 400, 'invalid-request'],
    ['POST', '/start', '{"message":"a","keepWorkspaces":false}', 400, 'invalid-request'],
    ['POST', '/interrupt', '{"force":true}', 400, 'invalid-request'],
    ['GET', '/state', null, 404, 'not-found'],
    ['GET', '/messages', null, 404, 'not-found'],
    ['GET', '/stream', null, 404, 'not-found'],
    ['POST', '/message', '{"message":"a"}', 404, 'not-found'],
    ['POST', '/messages', '{"message":"a"}', 404, 'not-found'],
    ['POST', '/resume', '', 404, 'not-found'],
    ['POST', '/interrupt', '', 404, 'not-found'],
    ['POST', '/abort', '', 404, 'not-found'],
    ['GET', '/nowhere', null, 404, 'not-found'],
    ['GET', '/__proto__', null, 404, 'not-found'],
    ['GET', '/', null, 404, 'not-found'],
    ['GET', '/start', null, 405, 'method-not-allowed'],
    ['DELETE', '/state', null, 405, 'method-not-allowed'],
    ['PUT', '/messages', null, 405, 'method-not-allowed'],
    ['POST', '/healthz', null, 405, 'method-not-allowed'],
  ])('%s %s %s is %i %s', async (...row) => {
    const [method, path, body, status, code] = row
    const session = createSession()
    const response = await session.fetch(path, { method, ...(body !== null && { body }) })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.headers.has('allow')).toBe(status === 405)
    expect(await answerOf(response)).toMatchObject({
      status,
      body: { error: { message: expect.any(String), code } },
    })
  })

  test.each([
    ['GET', '/messages?limit=0', 400, 'invalid-request'],
    ['GET', '/messages?offset=-1', 400, 'invalid-request'],
    ['GET', '/messages?limit=many', 400, 'invalid-request'],
    ['POST', '/start', 409, 'session-exists'],
  ])('of a session that is there: %s %s is %i %s', async (method, path, status, code) => {
    const session = createSession()
    await session.post('/start', { message: KNOWN })
    await session.ended()
    const body = method === 'POST' ? { body: '{"message":"a"}' } : {}
    const answer = await answerOf(session.fetch(path, { method, ...body }))
    expect(answer).toMatchObject({ status, body: { error: { code } } })
  })

  test('names each bad field', async () => {
    const { body } = await createSession().post('/start', { message: 1, state: 2 })
    const paths = body.error.details.issues.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(['message', 'state'])
  })

  test.each([
    [9_900, 202],
    [10_100, 413],
  ])('a body of about %i bytes is %i', async (length, status) => {
    const answer = await createSession().post('/start', { message: 'a'.repeat(length) })
    expect(answer.status).toBe(status)
  })

  test('a body of unknown length that is too large is not read to its end', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        if (pulled > 100) controller.close()
        else controller.enqueue(new Uint8Array(6_000))
      },
    })
    const session = createSession()
    const answer = await answerOf(session.fetch('/start', { method: 'POST', body }))
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'too-large' } } })
    expect(pulled).toBeLessThan(50)
  })

  test('a body that is no UTF-8', async () => {
    const body = new Uint8Array([0x22, 0xff, 0x22])
    const answer = await answerOf(createSession().fetch('/start', { method: 'POST', body }))
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid-json' } } })
  })

  test('a second writer of a session', async () => {
    const gate = createGate()
    const session = createSession({
      tools: [waitTool(gate)],
      brain: (messages) => (messages.at(-1)?.role === 'tool' ? say('ok') : use('wait')),
    })
    await session.post('/start', { message: 'go' })
    await gate.begun
    for (const path of ['/message', '/resume']) {
      const answer = await session.post(path, { message: 'me too' })
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'already-running' } } })
    }
    gate.open()
    expect(await session.ended()).toBe('completed')
  })

  test('a session of another agent is not there', async () => {
    const session = createSession()
    await session.post('/start', { message: 'hello' })
    await session.ended()
    for (const path of ['/state', '/stream', '/messages', '/healthz']) {
      const url = session.url(path).replace('/tested/', '/other/')
      expect((await exports.default.fetch(url)).status).toBe(404)
    }
  })

  test('an error of the server tells the client nothing, and the log everything', async () => {
    lines.length = 0
    const answer = await createSession().get('/broken')
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { message: 'the server failed; its log has the reason', code: 'internal' } },
    })
    const fields = { method: 'GET', path: '/broken', err: new Error('secret of the server') }
    expect(lines).toContainEqual({ level: 'error', message: 'request failed', fields })
  })

  test('a damaged session is a 500 that names the code only', async () => {
    const session = createSession()
    await session.post('/start', { message: 'hello' })
    await session.ended()
    await inObject(session, ({ storage }) => {
      storage.sql.exec("UPDATE helix_sessions SET status = 'asleep'")
    })
    const answer = await session.get('/state')
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'corrupt' } } })
  })

  test('tables of a newer release are a 500, and are left alone', async () => {
    const session = createSession()
    await session.post('/start', { message: 'hello' })
    await session.ended()
    await inObject(session, ({ storage }) => {
      storage.sql.exec('INSERT INTO helix_schema (version, applied_at) VALUES (99, 0)')
    })
    await evictDurableObject(session.stub)
    const refused = { status: 500, body: { error: { code: 'schema-version' } } }
    expect(await session.get('/state')).toMatchObject(refused)
    await inObject(session, ({ storage }) => {
      storage.sql.exec('DELETE FROM helix_schema WHERE version = 99')
    })
    expect(await session.get('/state')).toMatchObject({ status: 200 })
  })

  test('providers that cannot be told apart are a 500 that says so in the log only', async () => {
    const response = await env.BARE.getByName('bare').fetch('https://object/start', {
      method: 'POST',
      body: '{"message":"hello"}',
      headers: { 'content-type': 'application/json' },
    })
    expect(await answerOf(response)).toMatchObject({
      status: 500,
      body: { error: { code: 'config-invalid' } },
    })
  })
})
