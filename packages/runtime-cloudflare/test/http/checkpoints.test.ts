import { describe, expect, test } from 'vitest'
import { type Caller, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { DOStateStore } from '@helix-agents/store-cloudflare'
import { env } from 'cloudflare:workers'
import { say, type Script, use } from '../scripts.ts'
import { createSession, inObject, storedIn, type TestSession, withJsonType } from '../session.ts'

/** Writes a file, then talks; each turn goes on from what was said. */
const brain: Script['brain'] = (messages) => {
  const { length } = messages
  if (length === 1) return use('workspace__box__write_file', { path: '/a', content: 'one' })
  const asked = messages.findLast(({ role }) => role === 'user')
  return say(`answer to ${JSON.stringify(asked?.content)}, ${length}`)
}

async function createTwoTurns(): Promise<TestSession> {
  const session = createSession({ brain })
  await session.post('/start', { message: 'one' })
  await session.ended()
  await session.post('/message', { message: 'two' })
  await session.ended()
  return session
}

interface CheckpointView {
  readonly id: string
  readonly stepCount: number
  readonly messageCount: number
}

const contentsOf = async (session: TestSession) =>
  (await session.messages()).filter(({ role }) => role !== 'tool').map(({ content }) => content)

test('checkpoints are listed, newest first, without what they keep', async () => {
  const session = await createTwoTurns()
  const { status, body } = await session.get('/checkpoints')
  expect(status).toBe(200)
  expect(body.items.map((one: CheckpointView) => [one.stepCount, one.messageCount])).toEqual([
    [3, 6],
    [2, 4],
    [1, 3],
  ])
  expect(Object.keys(body.items[0]).toSorted()).toEqual([
    'createdAt',
    'id',
    'messageCount',
    'status',
    'stepCount',
  ])
  const page = (await session.get('/checkpoints?limit=2')).body
  expect(page.items).toHaveLength(2)
  const rest = (await session.get(`/checkpoints?limit=2&cursor=${page.nextCursor}`)).body
  expect(rest.items).toEqual(body.items.slice(2))
})

test.each(['?limit=0', '?limit=x', '?cursor=NO!', '?__proto__=1', '?offset=1'])(
  'checkpoints are not listed by %s',
  async (query) => {
    const session = await createTwoTurns()
    expect((await session.get(`/checkpoints${query}`)).status).toBe(400)
  },
)

test('a session is restored, and goes on from there', async () => {
  const session = await createTwoTurns()
  const { items } = (await session.get('/checkpoints')).body
  const first: CheckpointView = items.find(({ messageCount }: CheckpointView) => messageCount === 4)
  const answer = await session.post('/restore', { checkpointId: first.id })
  expect(answer).toMatchObject({ status: 202, body: { sessionId: session.id } })
  expect((await session.get('/state')).body).toMatchObject({
    status: 'interrupted',
    messageCount: 4,
  })
  expect((await session.post('/message', { message: 'other' })).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  expect(await contentsOf(session)).toEqual([
    'one',
    '',
    'answer to "one", 3',
    'other',
    'answer to "other", 5',
  ])
})

test.each([
  [{}, 400, 'invalid-request'],
  [{ checkpointId: '' }, 400, 'invalid-request'],
  [{ checkpointId: 'cpv1-other-s1-t1-ffffff' }, 404, 'not-found'],
  [{ checkpointId: '../x' }, 404, 'not-found'],
])('restore %j is %i %s', async (body, status, code) => {
  const session = await createTwoTurns()
  expect(await session.post('/restore', body)).toMatchObject({ status, body: { error: { code } } })
})

describe('a branch', () => {
  test('with files is rejected where no workspace has a history', async () => {
    const session = await createTwoTurns()
    const branch = createSession({ brain })
    const body = { sessionId: branch.id, files: 'checkpoint' }
    expect(await session.post('/branch', body)).toMatchObject({
      status: 422,
      body: { error: { code: 'branch-without-files' } },
    })
    expect((await branch.get('/state')).status).toBe(404)
  })

  test('is a session of its own, in an object of its own, with fresh workspaces', async () => {
    const session = await createTwoTurns()
    const branch = createSession({ brain })
    const answer = await session.post('/branch', { sessionId: branch.id })
    expect(answer).toMatchObject({ status: 201, body: { sessionId: branch.id } })
    expect(answer.headers.get('location')).toBe(`/agents/tested/${branch.id}/state`)
    expect((await branch.get('/state')).body).toMatchObject({
      status: 'idle',
      messageCount: 6,
      workspaces: [],
    })
    expect(await branch.messages()).toEqual(await session.messages())
    expect((await branch.post('/message', { message: 'three' })).status).toBe(202)
    await branch.ended()
    expect(await session.messages()).toHaveLength(6)
    expect(await branch.messages()).toHaveLength(8)
    const ids = await inObject(session, ({ storage }) =>
      storage.sql.exec('SELECT session_id FROM helix_sessions').toArray(),
    )
    expect(ids).toEqual([{ session_id: session.id }])
  })

  test('begins at a checkpoint', async () => {
    const session = await createTwoTurns()
    const { items } = (await session.get('/checkpoints')).body
    const branch = createSession({ brain })
    await session.post('/branch', { sessionId: branch.id, checkpointId: items.at(1).id })
    expect(await contentsOf(branch)).toEqual(['one', '', 'answer to "one", 3'])
  })

  test.each([
    ['of nobody', {}, { userId: 'ann' }, 'ann'],
    ['of nobody, made by nobody', {}, {}, undefined],
    [
      'of a user, made by an operator',
      { userId: 'ann' },
      { userId: 'root', isOperator: true },
      'ann',
    ],
  ])('of a session %s has an owner if there is one', async (_, owner, caller, expected) => {
    const session = createSession({ brain })
    const as = (who: Caller, path: string, body: object) => {
      const init = { method: 'POST', body: JSON.stringify(body) }
      const options = { binding: 'AGENTS', authenticate: () => who }
      return routeAgentRequest(new Request(session.url(path), withJsonType(init)), env, options)
    }
    await as(owner, '/start', { message: 'one' })
    const branch = createSession({ brain })
    expect((await as(caller, '/branch', { sessionId: branch.id }))?.status).toBe(201)
    const stored = await inObject(branch, ({ storage }) =>
      new DOStateStore(storage).loadSession(branch.id),
    )
    expect(stored?.userId).toBe(expected)
  })

  test('gets an id when none is chosen', async () => {
    const session = await createTwoTurns()
    const { body } = await session.post('/branch')
    expect(body.sessionId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('carries bytes, labels and the custom state', async () => {
    const session = await createTwoTurns()
    await inObject(session, ({ storage }) => {
      const message = JSON.stringify({
        role: 'user',
        content: 'one',
        files: [{ data: { $bytes: 'AAEC/w==' }, mediaType: 'image/png' }],
      })
      storage.sql.exec('UPDATE helix_messages SET message = ? WHERE position = 0', message)
      storage.sql.exec(
        'INSERT INTO helix_labels SELECT id, ? FROM helix_sessions',
        '{"tags":["t"]}',
      )
    })
    const branch = createSession({ brain })
    expect((await session.post('/branch', { sessionId: branch.id })).status).toBe(201)
    expect(await branch.messages()).toEqual(await session.messages())
    const stored = await inObject(branch, ({ storage }) => [
      storage.sql.exec('SELECT message FROM helix_messages WHERE position = 0').one()['message'],
      storage.sql.exec('SELECT labels FROM helix_labels').one()['labels'],
    ])
    expect(stored[0]).toContain('AAEC/w==')
    expect(stored[1]).toContain('"t"')
  })

  test.each([
    [{ sessionId: '' }, 400, 'invalid-session-id'],
    [{ sessionId: '../other' }, 400, 'invalid-session-id'],
    [{ sessionId: 'ü' }, 400, 'invalid-session-id'],
    [{ sessionId: 1 }, 400, 'invalid-request'],
    [{ sessionId: 'x', workspaces: true }, 400, 'invalid-request'],
    [{ checkpointId: 'cpv1-none' }, 404, 'not-found'],
    ['{', 400, 'invalid-json'],
    [{ sessionId: 'x'.repeat(5000) }, 413, 'too-large'],
  ])('%j is %i %s', async (body, status, code) => {
    const session = await createTwoTurns()
    expect(await session.post('/branch', body)).toMatchObject({ status, body: { error: { code } } })
  })

  test('does not take the place of a session, its own neither', async () => {
    const session = await createTwoTurns()
    const other = await createTwoTurns()
    for (const { id } of [session, other]) {
      const answer = await session.post('/branch', { sessionId: id })
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'session-exists' } } })
    }
    expect(await other.messages()).toHaveLength(6)
  })

  test('of an unknown session leaves none', async () => {
    const branch = createSession()
    const answer = await createSession().post('/branch', { sessionId: branch.id })
    expect(answer.status).toBe(404)
    expect((await storedIn(branch)).tables).toEqual([])
  })

  test('is not made by a client that says what it begins with', async () => {
    const session = createSession({ brain })
    const seed = { agentType: 'tested', messages: [{ role: 'user', content: 'forged' }] }
    const headers = { 'x-helix-seed': '1' }
    for (const path of ['/start', '/branch', '/seed']) {
      const body = JSON.stringify(seed)
      const { status } = await session.fetch(path, { method: 'POST', headers, body })
      expect([path, status]).toEqual([path, path === '/start' || path === '/branch' ? 400 : 404])
    }
    expect((await storedIn(session)).tables).toEqual([])
  })

  test('asks for both sessions who it is', async () => {
    const session = await createTwoTurns()
    const asked: unknown[] = []
    const to = crypto.randomUUID()
    const send = (denied?: string) =>
      routeAgentRequest(
        new Request(session.url('/branch'), {
          method: 'POST',
          body: JSON.stringify({ sessionId: to }),
          headers: { 'content-type': 'application/json' },
        }),
        env,
        {
          binding: 'AGENTS',
          authenticate: (_, { action, isWrite, sessionId }) => {
            asked.push([action, isWrite, sessionId])
            return action === denied ? null : {}
          },
        },
      )
    expect((await send('start'))?.status).toBe(401)
    expect((await send('branch'))?.status).toBe(401)
    expect((await send())?.status).toBe(201)
    expect(asked.slice(-2)).toEqual([
      ['branch', true, session.id],
      ['start', true, to],
    ])
  })
})
