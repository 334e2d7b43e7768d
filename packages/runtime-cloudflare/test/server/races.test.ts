// Several clients at once, at one session.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { routeAgentRequest, type TurnRequest } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test, vi } from 'vitest'
import { toObjectRequest } from '../../src/route/object-request.ts'
import { createGate, say, type Script, use } from '../scripts.ts'
import {
  answerOf,
  crash,
  createSession,
  inObject,
  storedIn,
  type TestSession,
  untilAtRest,
} from '../session.ts'

const nothing = { tables: [], keys: [], alarm: null }
const remove = async (session: TestSession): Promise<number> =>
  (await session.fetch('', { method: 'DELETE' })).status

const isSlow = ({ message }: TurnRequest): boolean => message === 'slow'

/** A session that has run once; its next turn waits in a hook. */
async function createHooked(hook: 'beforeStart' | 'beforeResume', status: string) {
  const gate = createGate()
  const session = createSession({
    brain: () => {
      if (status === 'failed') throw new Error('the model is broken')
      return say('hello')
    },
    hooks: { [hook]: (turn: TurnRequest) => (isSlow(turn) ? gate.pass() : undefined) },
  })
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe(status)
  return { session, gate }
}

describe('a session that is deleted while a hook decides about a turn is not brought back', () => {
  test.each([
    ['message', 'beforeStart', 'completed'],
    ['resume', 'beforeResume', 'completed'],
    ['resume', 'beforeResume', 'failed'],
  ] as const)('by a %s', async (request, hook, status) => {
    const { session, gate } = await createHooked(hook, status)
    const turn = session.post(`/${request}`, { message: 'slow' })
    await gate.begun
    expect(await remove(session)).toBe(204)
    gate.open()
    expect(await turn).toMatchObject({ status: 404, body: { error: { code: 'not-found' } } })
    expect(await storedIn(session)).toEqual(nothing)
  })

  test('nor one that has its id now', async () => {
    const { session, gate } = await createHooked('beforeStart', 'completed')
    const turn = session.post('/message', { message: 'slow' })
    await gate.begun
    expect(await remove(session)).toBe(204)
    await session.post('/start', { message: 'another' })
    await session.ended()
    gate.open()
    expect((await turn).status).toBe(404)
    expect((await session.messages()).map(({ content }) => content)).toEqual(['another', 'hello'])
  })

  test('by a message over a WebSocket', async () => {
    const { session, gate } = await createHooked('beforeStart', 'completed')
    const headers = { upgrade: 'websocket' }
    const { webSocket } = await exports.default.fetch(session.url('/socket'), { headers })
    webSocket!.accept()
    webSocket!.send('{"type":"message","message":"slow"}')
    await gate.begun
    expect(await remove(session)).toBe(204)
    gate.open()
    // What the object does next comes after it.
    await vi.waitFor(async () => expect(await storedIn(session)).toEqual(nothing), {
      timeout: 60_000,
    })
    expect((await session.get('/state')).status).toBe(404)
  })
})

describe('while a hook decides about a start', () => {
  test.each([
    ['the session of another', 'ben', 404, 'not-found'],
    ['one of the same user', 'ann', 409, 'session-exists'],
  ])('%s is started with its id: it is not written to', async (_, userId, status, code) => {
    const gate = createGate()
    const session = createSession({
      brain: () => say('hello'),
      hooks: { beforeStart: (turn) => (isSlow(turn) ? gate.pass() : undefined) },
    })
    const startAs = (name: string, message: string) =>
      routeAgentRequest(
        new Request(session.url('/start'), {
          method: 'POST',
          body: JSON.stringify({ message }),
          headers: { 'content-type': 'application/json' },
        }),
        env,
        { binding: 'AGENTS', authenticate: () => ({ userId: name }) },
      ).then((response) => answerOf(response!))
    const slow = startAs('ann', 'slow')
    await gate.begun
    expect((await startAs(userId, 'quick')).status).toBe(202)
    await untilAtRest(session)
    gate.open()
    expect(await slow).toMatchObject({ status, body: { error: { code } } })
    const messages = await inObject(session, ({ storage }) =>
      storage.sql.exec('SELECT message FROM helix_messages').toArray(),
    )
    expect(messages).toHaveLength(2)
    expect(JSON.stringify(messages)).not.toContain('slow')
  })
})

/** As an alarm does that was set before. */
async function ringFor(session: TestSession): Promise<void> {
  await inObject(session, ({ storage }) => storage.setAlarm(Date.now() + 60_000))
  await runDurableObjectAlarm(session.stub)
}

describe('a start that takes its time keeps what it has begun with', () => {
  test.each([
    ['a start that is refused', (session: TestSession) => session.post('/start', '{')],
    ['an alarm', ringFor],
  ])('beside %s', async (_, disturb) => {
    const gate = createGate()
    const session = createSession({
      brain: () => say('hello'),
      hooks: { beforeStart: (turn) => (isSlow(turn) ? gate.pass() : undefined) },
    })
    const slow = session.post('/start', { message: 'slow' })
    await gate.begun
    await disturb(session)
    gate.open()
    expect((await slow).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    await untilAtRest(session)
    expect((await storedIn(session)).keys).toEqual(['__ps_name'])
    expect(await remove(session)).toBe(204)
    expect(await storedIn(session)).toEqual(nothing)
  })
})

/** Numbers that are the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/start', { message: 'go' }],
  ['POST', '/start', { message: 'go' }],
  ['POST', '/message', { message: 'more' }],
  ['POST', '/resume'],
  ['POST', '/resume', { message: 'more' }],
  ['POST', '/interrupt'],
  ['POST', '/abort'],
  ['POST', '/branch'],
  ['DELETE', ''],
  ['GET', '/state'],
  ['GET', '/stream'],
  ['GET', '/healthz'],
]

const brain: Script['brain'] = (messages) =>
  messages.length % 3 === 1
    ? use('workspace__box__write_file', { path: '/a', content: 'x' })
    : say(`${messages.length}`)

/** Sends many at once; what was cut off has no answer. */
async function sendAll(session: TestSession, random: (below: number) => number, count: number) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const [method, path, body] = requests[random(requests.length)]!
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
      try {
        const response = await session.fetch(path, init)
        const text = await response.text()
        return { request: `${method} ${path}`, status: response.status, text }
      } catch {
        return undefined
      }
    }),
  )
}

describe('whatever clients ask for at once', () => {
  test.each([1, 2, 3, 4])(
    'no answer is a surprise, and nothing is left: seed %i',
    async (seed) => {
      const random = createRandom(seed)
      const session = createSession({ brain })
      for (let round = 0; round < 5; round++) {
        const answers = await sendAll(session, random, 12)
        for (const answer of answers) {
          const { request, status, text } = answer!
          const isKnown = [200, 201, 202, 204, 404, 409].includes(status)
          expect(isKnown ? [] : [request, status, text]).toEqual([])
        }
        const started = answers.filter(
          (one) => one?.request === 'POST /start' && one.status === 202,
        )
        const removed = answers.filter((one) => one?.request === 'DELETE ' && one.status === 204)
        expect(started.length).toBeLessThanOrEqual(removed.length + 1)
      }
      const { status } = await session.get('/state')
      if (status === 200) await session.ended()
      expect(await remove(session)).toBe(status === 200 ? 204 : 404)
      expect(await storedIn(session)).toEqual(nothing)
    },
    120_000,
  )

  test.each([5, 6, 7, 8])(
    'and its object ends: seed %i',
    async (seed) => {
      const random = createRandom(seed)
      const session = createSession({ brain })
      for (let round = 0; round < 4; round++) {
        const sent = sendAll(session, random, 8)
        for (let wait = random(6); wait > 0; wait--)
          await session.get('/state').catch(() => undefined)
        await crash()
        await sent
        // Whatever it was in the middle of, it is known, or there is no session.
        expect([200, 404]).toContain((await session.get('/state')).status)
      }
      const { status } = await session.get('/state')
      if (status === 200) await session.ended()
      await untilAtRest(session)
      expect(await remove(session)).toBe(status === 200 ? 204 : 404)
      expect(await storedIn(session)).toMatchObject({ tables: [], alarm: null })
    },
    120_000,
  )
})

test('a branch that is asked for slowly takes nothing of the session that has the id by then', async () => {
  const session = createSession({ brain: () => say('hello') })
  const target = (userId: string) =>
    ({ sessionId: session.id, agent: 'tested', base: '', caller: { userId } }) as const
  const send = (userId: string, path: string, body: BodyInit) => {
    const request = new Request(`https://example.com${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    return answerOf(session.stub.fetch(toObjectRequest(request, path, target(userId))))
  }
  await send('ann', '/start', '{"message":"of ann"}')
  await untilAtRest(session)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const branch = send('ann', '/branch', readable)
  // It has come so far when it is read.
  await writer.write(new TextEncoder().encode('{'))
  const removed = await session.stub.fetch(
    toObjectRequest(new Request('https://example.com/', { method: 'DELETE' }), '/', target('ann')),
  )
  expect(removed.status).toBe(204)
  expect((await send('ben', '/start', '{"message":"of ben"}')).status).toBe(202)
  await untilAtRest(session)
  await writer.write(new TextEncoder().encode('}'))
  await writer.close()
  expect(await branch).toMatchObject({ status: 404, body: { error: { code: 'not-found' } } })
})
