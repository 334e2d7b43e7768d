// Clients that begin a body and do not end it hold memory of the object: not many, and not for long.
import { env } from 'cloudflare:workers'
import { type Caller, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test, vi } from 'vitest'
import { createGate, say } from '../scripts.ts'
import { answerOf, createSession, type TestSession } from '../session.ts'

const MAX_BODIES = 32
const JSON_TYPE = { 'content-type': 'application/json' }

interface HalfOpen {
  readonly answer: ReturnType<typeof answerOf>
  readonly end: () => Promise<void>
}

function asked(session: TestSession, caller: Caller, path: string, body: BodyInit) {
  const request = new Request(session.url(path), { method: 'POST', body, headers: JSON_TYPE })
  const options = { binding: 'AGENTS', authenticate: () => caller }
  return answerOf(routeAgentRequest(request, env, options).then((response) => response!))
}

/** A body that has begun. */
async function begin(session: TestSession, caller: Caller = {}): Promise<HalfOpen> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const answer = asked(session, caller, '/message', readable)
  await writer.write(new TextEncoder().encode('{'))
  return { answer, end: () => writer.close() }
}

/** Begins bodies until there is no place for one more: as many as there are places are left open. */
async function fill(session: TestSession, caller: Caller, places: number): Promise<HalfOpen[]> {
  const begun = await Promise.all(Array.from({ length: places + 1 }, () => begin(session, caller)))
  const rejected = await Promise.race(
    begun.map(async (body) => ({ body, answer: await body.answer })),
  )
  const full = { status: 429, body: { error: { code: 'too-many-requests' } } }
  expect(rejected.answer).toMatchObject(full)
  expect(await asked(session, caller, '/interrupt', '{}')).toMatchObject(full)
  return begun.filter((body) => body !== rejected.body)
}

async function createEnded(caller: Caller = {}): Promise<TestSession> {
  const session = createSession({ brain: () => say('hello') })
  await asked(session, caller, '/start', '{"message":"go"}')
  await vi.waitFor(
    async () => {
      const request = new Request(session.url('/state'))
      const options = { binding: 'AGENTS', authenticate: () => caller }
      const { body } = await answerOf((await routeAgentRequest(request, env, options))!)
      expect(body.status).toBe('completed')
    },
    { timeout: 60_000 },
  )
  return session
}

describe('bodies that do not end', () => {
  test('are so many and no more, and leave their places', async () => {
    const session = await createEnded()
    const open = await fill(session, {}, MAX_BODIES)
    expect((await session.get('/state')).status).toBe(200)
    await Promise.all(open.map(({ end }) => end()))
    for (const { answer } of open) expect((await answer).status).toBe(400)
    expect((await asked(session, {}, '/message', '{"message":"more"}')).status).toBe(202)
    await session.ended()
  })

  test('of one user leave places to an operator', async () => {
    const session = await createEnded({ userId: 'ann' })
    const ann = { userId: 'ann' }
    const open = await fill(session, ann, MAX_BODIES / 2)
    const operator = { userId: 'root', isOperator: true }
    expect((await asked(session, operator, '/message', '{"message":"more"}')).status).toBe(202)
    await Promise.all(open.map(({ end }) => end()))
    await Promise.all(open.map(({ answer }) => answer))
  })

  test('are given up when their time is out', async () => {
    // Its bodies have 2 s.
    const session = createSession({}, { agent: 'quick', namespace: env.QUICK })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const answer = answerOf(session.fetch('/start', { method: 'POST', body: readable }))
    // What waits for a reader that is gone.
    const written = writer.write(new TextEncoder().encode('{')).catch(() => 'cut off')
    expect(await answer).toMatchObject({ status: 408, body: { error: { code: 'body-timeout' } } })
    await written
    expect((await session.post('/start', { message: 'go' })).status).toBe(202)
    await session.ended()
  })

  test('are given up in the Worker too', async () => {
    const session = await createEnded()
    const { readable } = new TransformStream<Uint8Array, Uint8Array>()
    const init = { method: 'POST', body: readable, headers: JSON_TYPE }
    const response = await routeAgentRequest(new Request(session.url('/branch'), init), env, {
      binding: 'AGENTS',
      authenticate: () => ({}),
      bodyTimeoutMs: 20,
    })
    expect(response?.status).toBe(408)
  })
})

describe('a body of a type that a page of another site may send', () => {
  test.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/plain; application/json',
    'text/json',
  ])('%s is refused', async (type) => {
    const session = createSession()
    const init = { method: 'POST', body: '{"message":"go"}', headers: { 'content-type': type } }
    const answer = await answerOf(session.fetch('/start', init))
    expect(answer).toMatchObject({
      status: 415,
      body: { error: { code: 'unsupported-media-type', message: expect.any(String) } },
    })
    expect((await session.get('/state')).status).toBe(404)
  })

  test('no type at all is refused', async () => {
    const session = createSession()
    const body = new Blob(['{"message":"go"}'])
    const request = new Request(session.url('/start'), { method: 'POST', body })
    expect(request.headers.get('content-type')).toBeNull()
    const options = { binding: 'AGENTS', authenticate: () => ({}) }
    expect((await routeAgentRequest(request, env, options))?.status).toBe(415)
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    '%s is taken',
    async (type) => {
      const session = createSession({ brain: () => say('hello') })
      const init = { method: 'POST', body: '{"message":"go"}', headers: { 'content-type': type } }
      expect((await session.fetch('/start', init)).status).toBe(202)
      await session.ended()
    },
  )
})

test('a command of a WebSocket that is not answered holds a place', async () => {
  const gate = createGate()
  let begun = 0
  const session = createSession({
    brain: () => say('hello'),
    hooks: {
      beforeStart: async ({ message }) => {
        if (message !== 'slow') return
        begun++
        await gate.pass()
      },
    },
  })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const { webSocket } = await session.fetch('/socket', { headers: { upgrade: 'websocket' } })
  const socket = webSocket!
  const codes: string[] = []
  socket.addEventListener('message', ({ data }) => {
    const { type, error } = JSON.parse(String(data)) as { type: string; error?: { code: string } }
    if (type === 'refused') codes.push(error!.code)
  })
  socket.accept()
  for (let at = 0; at < 200; at++) socket.send('{"type":"message","message":"slow"}')
  await vi.waitFor(() => expect(codes).toHaveLength(200 - MAX_BODIES), { timeout: 60_000 })
  expect(new Set(codes)).toEqual(new Set(['too-many-requests']))
  expect(begun).toBe(MAX_BODIES)
  gate.open()
  await session.ended()
  socket.close()
}, 120_000)
