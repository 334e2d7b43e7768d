import { evictDurableObject } from 'cloudflare:test'
import { exports } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { say, type Script } from '../scripts.ts'
import { createSession, inObject, type TestSession } from '../session.ts'

const DELTA = 'x'.repeat(16 * 1024)
/** What may wait to be read: two questions, each after so much, and the chunk before it. */
const MAX_WAITING = 2 * (256 * 1024 + 20_000)

interface Client {
  readonly socket: WebSocket
  /** Characters, in all messages. */
  readonly length: () => number
  readonly sequences: number[]
  readonly types: () => string[]
  readonly answersTo: (isReading: boolean) => void
  readonly closed: Promise<number>
}

/** A client that gets everything, and says that it has read it only when told to. */
async function connect(session: TestSession, query = ''): Promise<Client> {
  const headers = { upgrade: 'websocket' }
  const { webSocket } = await exports.default.fetch(session.url(`/socket${query}`), { headers })
  const socket = webSocket!
  const sequences: number[] = []
  const types: string[] = []
  let length = 0
  let isReading = false
  const questions: string[] = []
  const answer = (): void => {
    if (isReading) for (const question of questions.splice(0)) socket.send(question)
  }
  socket.addEventListener('message', ({ data }) => {
    const text = data === 'pong' ? '{"type":"pong"}' : String(data)
    const { type, sequence } = JSON.parse(text) as { type: string; sequence?: number }
    if (type !== 'pong') length += text.length
    types.push(type)
    if (sequence !== undefined) sequences.push(sequence)
    if (type === 'ack') questions.push(text)
    answer()
  })
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
  socket.accept()
  return {
    socket,
    sequences,
    closed,
    length: () => length,
    types: () => types,
    answersTo: (reads) => {
      isReading = reads
      answer()
    },
  }
}

/** Says 160 pieces of 16 KiB: 2.5 MiB. */
function talkative(pieces = 160): Partial<Script> {
  return {
    brain: (_, { callbacks }) => {
      for (let piece = 0; piece < pieces; piece++) callbacks.onTextDelta?.(DELTA)
      return say('done')
    },
  }
}

async function createTalked(pieces?: number): Promise<TestSession> {
  const session = createSession(talkative(pieces))
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  return session
}

/** Both questions are there, and all that was sent before a pong. */
const untilStopped = async (client: Client): Promise<void> => {
  const count = (name: string): number => client.types().filter((type) => type === name).length
  const pongs = count('pong')
  await vi.waitFor(() => expect(count('ack')).toBe(2), { timeout: 60_000, interval: 2 })
  client.socket.send('ping')
  await vi.waitFor(() => expect(count('pong')).toBe(pongs + 1), { timeout: 60_000, interval: 2 })
}

const untilEnded = (client: Client) =>
  vi.waitFor(() => expect(client.types().at(-1)).toBe('end'), { timeout: 60_000, interval: 2 })

describe('a client that does not read', () => {
  test('is not sent more than a little', async () => {
    const client = await connect(await createTalked())
    await untilStopped(client)
    expect(client.length()).toBeGreaterThan(256 * 1024)
    expect(client.length()).toBeLessThan(MAX_WAITING)
    expect(client.types().filter((type) => type === 'ack')).toHaveLength(2)
    expect(client.types()).not.toContain('end')
  })

  test('goes on where it was when it reads', async () => {
    const client = await connect(await createTalked())
    await untilStopped(client)
    client.answersTo(true)
    await untilEnded(client)
    expect(client.sequences).toEqual(client.sequences.map((_, index) => index + 1))
    expect(client.sequences.length).toBeGreaterThan(160)
  })

  test('is not sent more because its object slept, and goes on after that', async () => {
    const session = await createTalked()
    const client = await connect(session)
    await untilStopped(client)
    const before = client.length()
    await evictDurableObject(session.stub)
    await session.get('/state')
    await untilStopped(client)
    expect(client.length()).toBe(before)
    await evictDurableObject(session.stub)
    client.answersTo(true)
    await untilEnded(client)
    expect(client.sequences).toEqual(client.sequences.map((_, index) => index + 1))
  })

  test('is told when the run it was reading is over and another has begun', async () => {
    const session = await createTalked()
    const client = await connect(session)
    await untilStopped(client)
    await session.post('/message', { message: 'again' })
    await session.ended()
    client.answersTo(true)
    await untilEnded(client)
    expect(client.types()).toContain('stream_resync')
  })

  test('cannot pretend that it has', async () => {
    const client = await connect(await createTalked())
    await untilStopped(client)
    const before = client.length()
    for (const id of ['', '1', crypto.randomUUID(), '__proto__']) {
      client.socket.send(JSON.stringify({ type: 'ack', id }))
    }
    await untilStopped(client)
    expect(client.length()).toBe(before)
  })

  test('and sends all the same is closed', async () => {
    const client = await connect(await createTalked())
    await untilStopped(client)
    client.socket.send('{"type":"resume"}')
    expect(await client.closed).toBe(1008)
  })

  test('and sends 2000 messages at once to an object that sleeps does not fill it', async () => {
    const session = await createTalked(1)
    const client = await connect(session)
    await untilEnded(client)
    await evictDurableObject(session.stub)
    // Nobody has asked for them.
    for (let at = 0; at < 2000; at++) client.socket.send('{"type":"ack","id":"x"}')
    client.socket.send('{"type":"interrupt"}')
    // Others are served meanwhile.
    expect((await session.get('/state')).status).toBe(200)
    await vi.waitFor(() => expect(client.types()).toContain('refused'), { timeout: 50_000 })
    expect(client.length()).toBeLessThan(MAX_WAITING)
  }, 120_000)

  test('and asks until its answers are too much is closed', async () => {
    const client = await connect(await createTalked(1))
    // The answer names the field.
    const text = JSON.stringify({ type: 'abort', ['x'.repeat(5000)]: 1 })
    for (let at = 0; at < 200; at++) client.socket.send(text)
    expect(await client.closed).toBe(1008)
    expect(client.length()).toBeLessThan(MAX_WAITING)
  })
})

test('a client that never says so gets what is not much', async () => {
  const client = await connect(await createTalked(20))
  await untilEnded(client)
  expect(client.types()).toContain('ack')
})

test('many clients that do not read are together not sent much more than one', async () => {
  const session = await createTalked()
  const clients = await Promise.all(Array.from({ length: 60 }, () => connect(session)))
  await Promise.all(clients.map(untilStopped))
  const waiting = clients.reduce((sum, client) => sum + client.length(), 0)
  expect(waiting).toBeLessThan(16 * 1024 * 1024)
  const one = clients[0]!
  one.answersTo(true)
  await untilEnded(one)
  expect(one.sequences).toEqual(one.sequences.map((_, index) => index + 1))
}, 120_000)

test('a session has so many WebSockets and no more', async () => {
  const session = await createTalked(1)
  const clients = await Promise.all(Array.from({ length: 100 }, () => connect(session)))
  const headers = { upgrade: 'websocket' }
  const refused = await exports.default.fetch(session.url('/socket'), { headers })
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { error: { code: 'too-many-sockets' } },
  ])
  clients[0]!.socket.close()
  await vi.waitFor(
    async () => {
      const sockets = await inObject(session, (ctx) => ctx.getWebSockets().length)
      expect(sockets).toBeLessThan(100)
    },
    { timeout: 60_000 },
  )
  await connect(session)
})

test('so many at once are no more either', async () => {
  const session = await createTalked(1)
  const headers = { upgrade: 'websocket' }
  const responses = await Promise.all(
    Array.from({ length: 150 }, () => exports.default.fetch(session.url('/socket'), { headers })),
  )
  const statuses = responses.map(({ status }) => status)
  expect(statuses.filter((status) => status === 101)).toHaveLength(100)
  expect(statuses.filter((status) => status === 429)).toHaveLength(50)
  for (const { status, headers: answered } of responses) {
    expect(answered.has('retry-after')).toBe(status === 429)
  }
  expect(await inObject(session, (ctx) => ctx.getWebSockets().length)).toBe(100)
})
