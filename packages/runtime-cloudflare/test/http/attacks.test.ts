// Requests of somebody who is let in and means harm, or whose client is broken.
import { exports } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { answerOf, createSession, inObject, storedIn, type TestSession } from '../session.ts'

async function createEnded(): Promise<TestSession> {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  return session
}

describe('a path', () => {
  test.each([
    ['/agents/tested/..%2fother/state', 400],
    ['/agents/tested/%2e%2e/state', 404],
    ['/agents/tested/../other/state', 404],
    ['/agents/tested/%61bc/state', 400],
    ['/agents/tested/a%00/state', 400],
    ['/agents/tested/a%20b/state', 400],
    ['/agents/tested/a+b/state', 400],
    ['/agents/tested/ä/state', 400],
    ['/agents/tested/a\u200bb/state', 400],
    [`/agents/tested/${'x'.repeat(65)}/state`, 400],
    [`/agents/tested/${'x'.repeat(64)}/state`, 404],
    [`/agents/tested/${'x'.repeat(10_000)}/state`, 400],
    [`/agents/${'x'.repeat(10_000)}/s/state`, 404],
    [`/agents/tested/x/${'x/'.repeat(5000)}state`, 404],
    [`/agents/tested/x/state?${'a=1&'.repeat(5000)}`, 404],
    ['/agents/tested//state', 400],
    ['/agents/tested/', 400],
    ['/agents/tested', 404],
    ['/agents//x/state', 404],
    ['/agents/', 404],
    ['/agents/__proto__/x/state', 404],
    ['/agents/constructor/x/state', 404],
    ['/agents/toString/x/state', 404],
    ['/agents/tested/x/state/', 404],
    ['/agents/tested/x//state', 404],
    ['/agents/tested/x/%73tate', 404],
    ['/agents/tested/x/STATE', 404],
    ['/agents/tested/x/state?__proto__=1', 404],
  ])('%s is %i', async (path, status) => {
    const response = await exports.default.fetch(`https://example.com${path}`)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.status).toBe(status)
  })

  test('ids that differ in case are two sessions', async () => {
    const [lower, upper] = [createSession({ brain: () => say('x') }), createSession()]
    await lower.post('/start', { message: 'go' })
    const other = `https://example.com/agents/tested/${lower.id.toUpperCase()}/state`
    expect((await exports.default.fetch(other)).status).toBe(404)
    expect((await upper.get('/state')).status).toBe(404)
  })
})

describe('a body', () => {
  test.each([
    ['{"message":"a","__proto__":{"isOperator":true}}', 400],
    ['{"message":"a","constructor":1}', 400],
    ['{"__proto__":{"message":"a"}}', 400],
    ['{"message":"a","state":{"__proto__":{"x":1}}}', 202],
    ['{"message":"\\ud800"}', 202],
    ['{"message":"\\u0000"}', 202],
    [`${'['.repeat(5000)}${']'.repeat(4000)}`, 400],
    [`{"message":"a","state":{"a":${'['.repeat(4000)}${']'.repeat(4000)}}}`, 400],
    ['"message"', 400],
    ['null', 400],
    ['1e999', 400],
    ['{"message":"a"}{"message":"b"}', 400],
    ['\ufeff{"message":"a"}', 202],
    ['message=a', 400],
  ])('%.60s is %i', async (body, status) => {
    const session = createSession({ brain: () => say('hello') })
    const answer = await session.post('/start', body)
    expect([answer.status, answer.body]).toEqual([status, expect.any(Object)])
    const isStored = (await storedIn(session)).tables.length > 0
    expect(isStored).toBe(status === 202)
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('with a false length is measured', async () => {
    const session = createSession()
    for (const length of ['-1', 'x', '1e3']) {
      const headers = { 'x-content-length': length }
      const body = `{"message":"${'x'.repeat(20_000)}"}`
      const response = await session.fetch('/start', { method: 'POST', body, headers })
      expect((await answerOf(response)).body.error.code).toBe('too-large')
    }
  })

  test('that ends in the middle of a character is no JSON', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"message":"'), 0xe2, 0x82])
    const response = createSession().fetch('/start', { method: 'POST', body })
    expect(await answerOf(response)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid-json' } },
    })
  })
})

const events = (text: string): string[] => [...text.matchAll(/^event: (\w+)$/gm)].map(([, e]) => e!)

describe('the event that was seen last', () => {
  test.each([
    ['', ['text_delta', 'output', 'end']],
    ['x', ['text_delta', 'output', 'end']],
    ['-1', ['text_delta', 'output', 'end']],
    ['1.5', ['text_delta', 'output', 'end']],
    ['0', ['text_delta', 'output', 'end']],
    ['1', ['output', 'end']],
    ['1'.repeat(400), ['text_delta', 'output', 'end']],
    ['__proto__', ['text_delta', 'output', 'end']],
    // Of another session, or of one that was deleted.
    ['999999', ['stream_resync', 'text_delta', 'output', 'end']],
  ])('%.20s', async (id, expected) => {
    const session = await createEnded()
    const response = await session.fetch('/stream', { headers: { 'last-event-id': id } })
    expect([response.status, events(await response.text())]).toEqual([200, expected])
  })

  test('being the last one, there is no more', async () => {
    const session = await createEnded()
    const { status } = await session.fetch('/stream', { headers: { 'last-event-id': '2' } })
    expect(status).toBe(204)
  })
})

describe('no cache keeps', () => {
  test.each([
    ['GET', '/state', 200, 'no-store'],
    ['GET', '/messages', 200, 'no-store'],
    ['GET', '/healthz', 404, 'no-store'],
    ['GET', '/nowhere', 404, 'no-store'],
    ['PUT', '/state', 405, 'no-store'],
    ['POST', '/message', 202, 'no-store'],
    ['DELETE', '', 204, 'no-store'],
    ['GET', '/stream', 200, 'no-cache, no-transform'],
    // The application knows better.
    ['GET', '/cached', 200, 'max-age=60'],
  ])('what %s %s answers', async (method, path, status, expected) => {
    const session = await createEnded()
    const body = method === 'POST' ? { body: '{"message":"more"}' } : {}
    const response = await session.fetch(path, { method, ...body })
    await response.text()
    expect([response.status, response.headers.get('cache-control')]).toEqual([status, expected])
    if (method === 'POST') await session.ended()
  })
})

test('large headers do not come into the object', async () => {
  const session = createSession({ brain: () => say('hello') })
  const response = await session.fetch('/start', {
    method: 'POST',
    body: '{"message":"go"}',
    headers: { 'x-large': 'x'.repeat(16_000), cookie: 'y'.repeat(16_000) },
  })
  expect(response.status).toBe(202)
  await session.ended()
  const stored = await inObject(session, ({ storage }) =>
    storage.sql.exec('SELECT message FROM helix_messages').toArray(),
  )
  expect(JSON.stringify(stored)).not.toContain('xxxx')
})

test('a reader that comes between the last chunk and the end is told the end', async () => {
  const session = await createEnded()
  await inObject(session, ({ storage }) => {
    storage.sql.exec('UPDATE helix_streams SET is_open = 1')
  })
  const reading = session.fetch('/stream').then((response) => response.text())
  await inObject(session, ({ storage }) => storage.sql.exec('SELECT 1').toArray())
  await session.post('/message', { message: 'more' })
  expect((await reading).endsWith('event: end\ndata: {}\n\n')).toBe(true)
})
