import { evictDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test, vi } from 'vitest'
import { createGate, say, type Script, use, waitTool } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, withJsonType } from '../session.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it expects
type Received = any

interface Client {
  readonly socket: WebSocket
  readonly received: Received[]
  readonly closed: Promise<number>
  readonly send: (message: unknown) => void
  /** Waits for a message with these fields. */
  readonly until: (fields: object) => Promise<Received>
}

/** A session that has run once. */
async function createRested(script: Partial<Script> = {}): Promise<TestSession> {
  const session = createSession(script)
  await session.post('/start', { message: 'first' })
  await session.ended()
  return session
}

async function connect(session: TestSession, query = ''): Promise<Client> {
  const response = await exports.default.fetch(session.url(`/socket${query}`), {
    headers: { upgrade: 'websocket' },
  })
  return clientOf(response)
}

function clientOf(response: Response): Client {
  expect(response.status).toBe(101)
  const socket = response.webSocket!
  const received: Received[] = []
  const closed = new Promise<number>((resolve) =>
    socket.addEventListener('close', ({ code }) => resolve(code)),
  )
  socket.addEventListener('message', ({ data }) => {
    received.push(data === 'pong' ? { type: data } : JSON.parse(String(data)))
  })
  socket.accept()
  return {
    socket,
    received,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    until: (fields) =>
      vi.waitFor(
        () => {
          const found = received.find((one) =>
            Object.entries(fields).every(([name, value]) => one[name] === value),
          )
          expect(found).toBeDefined()
          return found
        },
        { timeout: 60_000, interval: 2 },
      ),
  }
}

const typesOf = ({ received }: Client): string[] => received.map(({ type }) => type)
const chunksOf = ({ received }: Client): Received[] =>
  received.filter(({ sequence }) => sequence !== undefined)

describe('over a WebSocket', () => {
  test('a turn is started, and its chunks come as they are written', async () => {
    const session = createSession({ brain: () => say('hello') })
    await session.post('/start', { message: 'go' })
    const client = await connect(session)
    await client.until({ type: 'end' })
    expect(typesOf(client)).toEqual(['text_delta', 'output', 'end'])
    client.received.length = 0
    client.send({ type: 'message', message: 'again', id: '1' })
    const accepted = await client.until({ type: 'accepted' })
    expect(accepted).toEqual({
      type: 'accepted',
      id: '1',
      sessionId: session.id,
      runId: expect.any(String),
    })
    await client.until({ type: 'end' })
    expect(chunksOf(client).map(({ type }) => type)).toEqual([
      'stream_resync',
      'text_delta',
      'output',
    ])
    expect((await session.messages()).map(({ content }) => content)).toEqual([
      'go',
      'hello',
      'again',
      'hello',
    ])
  })

  test('a run is interrupted, resumed and aborted', async () => {
    const gates = [createGate(), createGate()]
    let waits = 0
    const wait = waitTool({ ...gates[0]!, pass: (signal) => gates[waits++]!.pass(signal) })
    const session = createSession({
      tools: [wait],
      brain: (messages) => (messages.length < 5 ? use('wait', {}, `${messages.length}`) : say('x')),
    })
    await session.post('/start', { message: 'go' })
    const client = await connect(session)
    await gates[0]!.begun
    client.send({ type: 'interrupt', id: 'i' })
    await client.until({ type: 'accepted', id: 'i' })
    gates[0]!.open()
    expect(await session.ended()).toBe('interrupted')
    await client.until({ type: 'end' })
    client.send({ type: 'resume', id: 'r' })
    await client.until({ type: 'accepted', id: 'r' })
    await gates[1]!.begun
    client.send({ type: 'abort', id: 'a' })
    await client.until({ type: 'accepted', id: 'a' })
    expect(await session.ended()).toBe('aborted')
  })

  test('what happened before it was connected comes too, or only from a sequence number on', async () => {
    const session = createSession({ brain: () => say('hello') })
    await session.post('/start', { message: 'go' })
    await session.ended()
    const late = await connect(session)
    await late.until({ type: 'end' })
    expect(typesOf(late)).toEqual(['text_delta', 'output', 'end'])
    const back = await connect(session, '?fromSequence=2')
    await back.until({ type: 'end' })
    expect(typesOf(back)).toEqual(['output', 'end'])
  })

  test('all clients see the same', async () => {
    const session = await createRested({ brain: () => say('hello') })
    const clients = await Promise.all([connect(session), connect(session), connect(session)])
    await Promise.all(clients.map((client) => client.until({ type: 'end' })))
    for (const client of clients) client.received.length = 0
    await session.post('/message', { message: 'go' })
    await Promise.all(clients.map((client) => client.until({ type: 'end' })))
    for (const client of clients) expect(client.received).toEqual(clients[0]?.received)
  })

  test('a ping is answered without waking the object', async () => {
    const client = await connect(await createRested())
    client.send('ping')
    expect(await client.until({ type: 'pong' })).toEqual({ type: 'pong' })
  })
})

test('the largest caller fits into what a WebSocket carries', async () => {
  const session = await createRested({ brain: () => say('hello') })
  const { id } = session
  const caller = { userId: 'ann', metadata: { text: `${'x'.repeat(4000)}\u20ac` } }
  const request = new Request(
    `https://${'long.'.repeat(45)}example.com/agents/tested/${id}/socket`,
    {
      headers: { upgrade: 'websocket' },
    },
  )
  const options = { binding: 'AGENTS', authenticate: () => caller }
  const client = clientOf((await routeAgentRequest(request, env, options))!)
  await client.until({ type: 'end' })
  client.received.length = 0
  client.send({ type: 'message', message: 'go' })
  await client.until({ type: 'end' })
  expect(chunksOf(client).at(-1)).toMatchObject({ type: 'output', output: 'hello' })
})

describe('a WebSocket outlives its object', () => {
  test('that sleeps: it goes on with the next run', async () => {
    const session = await createRested({ brain: (messages) => say(`${messages.length}`) })
    const client = await connect(session)
    await client.until({ type: 'end' })
    client.received.length = 0
    await evictDurableObject(session.stub)
    client.send({ type: 'message', message: 'again' })
    await client.until({ type: 'end' })
    expect(typesOf(client).filter((type) => type !== 'accepted')).toEqual([
      'stream_resync',
      'text_delta',
      'output',
      'end',
    ])
    expect(chunksOf(client)[1]).toMatchObject({ delta: '3' })
  })

  test('that sleeps between two of its messages: nothing comes twice', async () => {
    const session = await createRested({ brain: () => say('hello') })
    const client = await connect(session)
    await client.until({ type: 'end' })
    const before = [...client.received]
    await evictDurableObject(session.stub)
    // Wakes the object, which looks after its WebSockets.
    await session.get('/state')
    client.send({ type: 'resume', id: 'wakes it once more' })
    await client.until({ type: 'refused' })
    expect(client.received.slice(0, -1)).toEqual(before)
  })
})

test('a client that comes back after a crash misses nothing', async () => {
  const gates = [createGate(), createGate()]
  let waits = 0
  const script: Script = {
    tools: [waitTool({ ...gates[0]!, pass: (signal) => gates[waits++]!.pass(signal) })],
    brain: (messages) => (messages.length === 1 ? use('wait', {}, 'w') : say('after')),
  }
  const session = createSession(script)
  await session.post('/start', { message: 'go' })
  const first = await connect(session)
  await first.until({ type: 'tool_start' })
  await gates[0]!.begun
  await crash()
  const seen = chunksOf(first).at(-1).sequence as number
  const second = await connect(session, `?fromSequence=${seen + 1}`)
  await gates[1]!.begun
  gates[1]!.open()
  await second.until({ type: 'end' })
  const ids = [...chunksOf(first), ...chunksOf(second)].map(({ sequence }) => sequence)
  expect(ids).toEqual(ids.map((_, index) => index + 1))
})

test('a client that leaves before it is answered disturbs nobody', async () => {
  const gate = createGate()
  const session = createSession({
    brain: () => say('hello'),
    hooks: { beforeStart: (turn) => (turn.message === 'slow' ? gate.pass() : undefined) },
  })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const client = await connect(session)
  client.send({ type: 'message', message: 'slow' })
  await gate.begun
  client.socket.close()
  await vi.waitFor(
    async () => {
      const sockets = await inObject(session, (ctx) => ctx.getWebSockets().length)
      expect(sockets).toBe(0)
    },
    { timeout: 60_000 },
  )
  gate.open()
  await vi.waitFor(async () => expect(await session.messages()).toHaveLength(4), {
    timeout: 60_000,
  })
})

describe('what a WebSocket is refused', () => {
  test.each([
    ['no JSON', '{"type":', 'invalid-json'],
    ['no message', '{"type":"message"}', 'invalid-request'],
    ['an empty message', '{"type":"message","message":""}', 'invalid-request'],
    ['an unknown type', '{"type":"delete"}', 'invalid-request'],
    ['an unknown field', '{"type":"abort","session":"other"}', 'invalid-request'],
    ['a list', '[]', 'invalid-request'],
    ['too much', `{"type":"message","message":"${'x'.repeat(20_000)}"}`, 'too-large'],
    ['an answer to nothing with more', '{"type":"ack","id":"1","x":1}', 'invalid-request'],
    ['a resume of what is done', '{"type":"resume"}', 'not-resumable'],
    ['an interrupt of what does not run', '{"type":"interrupt"}', 'not-running'],
    ['an abort of what is done', '{"type":"abort"}', 'not-running'],
  ])('%s', async (_, message, code) => {
    const client = await connect(await createRested())
    client.send(message)
    expect(await client.until({ type: 'refused' })).toMatchObject({
      error: { code, message: expect.any(String) },
    })
    client.send('ping')
    await client.until({ type: 'pong' })
  })

  test('bytes', async () => {
    const client = await connect(await createRested())
    client.socket.send(new Uint8Array([1, 2, 3]))
    expect(await client.until({ type: 'refused' })).toMatchObject({
      error: { code: 'invalid-json' },
    })
  })

  test.each([
    ['?_pk=' + 'x'.repeat(500)],
    ['?_pk='],
    ['?token=' + 'x'.repeat(10_000)],
    ['?fromSequence=-1'],
    ['?fromSequence=' + '9'.repeat(400)],
    ['?fromSequence=0x10'],
  ])('nothing for the query %s', async (query) => {
    const session = await createRested({ brain: () => say('hello') })
    const client = await connect(session, query)
    await client.until({ type: 'end' })
    client.received.length = 0
    client.send({ type: 'message', message: 'go' })
    await client.until({ type: 'end' })
    expect(chunksOf(client).at(-1)).toMatchObject({ type: 'output', output: 'hello' })
  })

  test('a session of another user', async () => {
    const { id } = createSession({ brain: () => say('hello') })
    const asUser = async (userId: string, path: string, init: RequestInit): Promise<Response> => {
      const request = new Request(
        `https://example.com/agents/tested/${id}${path}`,
        withJsonType(init),
      )
      const options = { binding: 'AGENTS', authenticate: () => ({ userId }) }
      return (await routeAgentRequest(request, env, options))!
    }
    const upgrade = { headers: { upgrade: 'websocket' } }
    // Before there is one: nobody waits for the session of another.
    expect((await asUser('ben', '/socket', upgrade)).status).toBe(404)
    await asUser('ann', '/start', { method: 'POST', body: '{"message":"secret"}' })
    expect((await asUser('ben', '/socket', upgrade)).status).toBe(404)
    const own = clientOf(await asUser('ann', '/socket', upgrade))
    await own.until({ type: 'end' })
  })
})
