import { env, exports } from 'cloudflare:workers'
import { RequestError } from '@helix-agents/runtime-cloudflare'
import { expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { answerOf, createSession, inObject, storedIn, type TestSession } from '../session.ts'

const nothing = { tables: [], keys: [], alarm: null }

test.each([
  ['GET', '', null],
  ['GET', '/state', null],
  ['GET', '/messages', null],
  ['GET', '/checkpoints', null],
  ['GET', '/stream', null],
  ['GET', '/healthz', null],
  ['POST', '/message', '{"message":"a"}'],
  ['POST', '/messages', '{"message":"a"}'],
  ['POST', '/resume', ''],
  ['POST', '/resume', '{"message":"a"}'],
  ['POST', '/interrupt', ''],
  ['POST', '/abort', ''],
  ['POST', '/restore', '{"checkpointId":"c"}'],
  ['POST', '/branch', ''],
  ['DELETE', '', null],
  ['GET', '/nowhere', null],
  ['POST', '/nowhere', '{}'],
])('%s %s of a session that was never started is 404 and stores nothing', async (...row) => {
  const [method, path, body] = row
  const session = createSession()
  const sent = session.fetch(path, { method, ...(body !== null && { body }) })
  expect((await answerOf(sent)).status).toBe(404)
  expect(await storedIn(session)).toEqual(nothing)
})

test('a WebSocket to a session that was never started is 404 and stores nothing', async () => {
  const session = createSession()
  const headers = { upgrade: 'websocket' }
  const response = await exports.default.fetch(session.url('/socket'), { headers })
  expect(await answerOf(response)).toMatchObject({
    status: 404,
    body: { error: { code: 'not-found' } },
  })
  expect(await storedIn(session)).toEqual(nothing)
})

async function statusOfStart(session: TestSession, body: unknown): Promise<number> {
  return (await session.post('/start', body)).status
}

test.each([
  ['no JSON', '{', 400],
  ['no message', '{}', 400],
  ['too large a body', { message: 'x'.repeat(20_000) }, 413],
])('a start with %s stores nothing', async (_, body, status) => {
  const session = createSession()
  expect(await statusOfStart(session, body)).toBe(status)
  expect(await storedIn(session)).toEqual(nothing)
})

const refuse = (): never => {
  throw new RequestError(402, 'no-budget', 'there is no budget left')
}

test('a start that a hook refuses stores nothing', async () => {
  const session = createSession({ brain: () => say('no'), hooks: { beforeStart: refuse } })
  expect(await statusOfStart(session, { message: 'go' })).toBe(402)
  expect(await storedIn(session)).toEqual(nothing)
})

test('a path of the application works without a session, and may store something', async () => {
  const session = createSession()
  expect((await session.get('/whoami')).body).toMatchObject({ sessionId: session.id })
  expect(await storedIn(session)).toEqual(nothing)
  expect((await session.get('/count')).body).toEqual({ count: 1 })
  expect((await session.get('/count')).body).toEqual({ count: 2 })
  expect((await storedIn(session)).keys).toEqual(['count'])
})

test.each([
  ['GET', '/own', ['own']],
  ['PUT', '/own', ['own']],
  ['GET', '/state', []],
  ['PUT', '/start', []],
  ['POST', '/message', []],
])('%s %s of an object whose class has paths of its own begins with %j', async (...row) => {
  const [method, path, tables] = row
  const session = createSession({}, { agent: 'tabled', namespace: env.TABLED })
  await (await session.fetch(path, { method })).text()
  expect((await storedIn(session)).tables).toEqual(tables)
})

test('a session that is started has all it needs', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.get('/state')
  expect((await session.post('/start', { message: 'go' })).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  expect((await storedIn(session)).keys).toEqual(['__ps_name'])
})

test('what one session costs', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const bytes = await inObject(session, ({ storage }) => storage.sql.databaseSize)
  expect(bytes).toBeLessThan(265_000)
})
