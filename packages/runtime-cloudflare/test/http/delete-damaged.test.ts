// What is stored and cannot be read any more can still be removed, by who may.
import { env } from 'cloudflare:workers'
import { insecureAllowAnyone, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import type { Caller } from '@helix-agents/runtime-cloudflare'
import { describe, expect, test, vi } from 'vitest'
import { createGate, say, use, waitTool } from '../scripts.ts'
import {
  answerOf,
  createSession,
  inObject,
  storedIn,
  type TestSession,
  withJsonType,
} from '../session.ts'
import { lines } from '../worker.ts'

const nothing = { tables: [], keys: [], alarm: null }

/** Each breaks what is stored of a session, as a fault of a disk or a foreign program might. */
const damages: Readonly<Record<string, string>> = {
  status: "UPDATE helix_sessions SET status = 'asleep'",
  'name of its agent': `UPDATE helix_sessions SET agent_type = '"half'`,
  output: "UPDATE helix_sessions SET output = 'undefined'",
  state: 'UPDATE helix_sessions SET state_version = 7',
  refs: "UPDATE helix_refs SET refs = '[1]'",
  labels: "UPDATE helix_labels SET labels = '{'",
  'pieces of a long text': "UPDATE helix_sessions SET output = '~9:9'",
  'usage of its run': "UPDATE helix_sessions SET usage = '[]'",
  messages: "UPDATE helix_messages SET message = '{'",
  runs: "UPDATE helix_runs SET status = 'x'",
  'run that is missing': 'DELETE FROM helix_runs',
  'row of its stream': `UPDATE helix_streams SET agent_id = '"half'`,
  chunks: "UPDATE helix_chunks SET chunk = '{'",
  'note of a run': 'SELECT 1',
}

const ann: Caller = { userId: 'ann', tags: ['x'] }

/** A request by somebody, over a Worker of its own. */
function send(session: TestSession, caller: Caller, init: RequestInit, agent = 'tested') {
  const url = session
    .url(init.method === 'DELETE' ? '' : '/start')
    .replace('/tested/', `/${agent}/`)
  const options = { binding: 'AGENTS', authenticate: () => caller }
  return routeAgentRequest(new Request(url, withJsonType(init)), env, options).then((sent) =>
    answerOf(sent!),
  )
}

/** By its rows: it has an owner. */
const untilCompleted = (session: TestSession) =>
  vi.waitFor(
    async () => {
      const row = await inObject(session, ({ storage }) =>
        storage.sql.exec('SELECT status FROM helix_sessions').one(),
      )
      expect(row['status']).toBe('completed')
      expect((await storedIn(session)).alarm).toBeNull()
    },
    { timeout: 60_000 },
  )

const remove = { method: 'DELETE' }

async function createDamaged(statement: string): Promise<TestSession> {
  const session = createSession({
    brain: (messages) =>
      messages.length === 1
        ? use('workspace__box__write_file', { path: '/a', content: 'x' })
        : say('done'),
  })
  const { status } = await send(session, ann, { method: 'POST', body: '{"message":"go"}' })
  expect(status).toBe(202)
  await untilCompleted(session)
  await inObject(session, ({ storage }) => {
    storage.sql.exec(statement)
    if (statement === damages['note of a run']) {
      storage.kv.put(`helix:run:${session.id}`, { sessionId: 7, attempts: Number.NaN })
      storage.kv.put('helix:alarm:runs', 'x')
    }
  })
  return session
}

describe('a session whose', () => {
  test.each(Object.keys(damages))('%s cannot be read is removed by an operator', async (what) => {
    const session = await createDamaged(damages[what]!)
    expect(await send(session, { isOperator: true }, remove)).toMatchObject({ status: 204 })
    expect(await storedIn(session)).toEqual(nothing)
    // Its id begins anew.
    expect(await send(session, ann, { method: 'POST', body: '{"message":"go"}' })).toMatchObject({
      status: 202,
    })
    await untilCompleted(session)
  })

  test('status cannot be read is still that of its owner', async () => {
    const session = await createDamaged(damages['status']!)
    const before = await storedIn(session)
    expect(await send(session, { userId: 'ben' }, remove)).toMatchObject({ status: 404 })
    expect(await send(session, {}, remove)).toMatchObject({ status: 404 })
    expect(await send(session, ann, remove, 'other')).toMatchObject({ status: 404 })
    expect(await send(session, { ...ann, isReadOnly: true }, remove)).toMatchObject({ status: 403 })
    expect(await storedIn(session)).toEqual(before)
    expect(await send(session, ann, remove)).toMatchObject({ status: 204 })
    expect(await storedIn(session)).toEqual(nothing)
  })

  test('owner cannot be read is nobody’s but an operator’s', async () => {
    for (const what of ['labels', 'name of its agent']) {
      const session = await createDamaged(damages[what]!)
      for (const caller of [ann, {}, { userId: 'ben' }]) {
        expect(await send(session, caller, remove)).toMatchObject({
          status: 500,
          body: { error: { code: 'corrupt' } },
        })
      }
      expect(await send(session, { isOperator: true }, remove)).toMatchObject({ status: 204 })
    }
  })

  test('workspaces nobody knows any more says so in the log', async () => {
    const session = await createDamaged(damages['refs']!)
    lines.length = 0
    await send(session, { isOperator: true }, remove)
    expect(lines).toContainEqual({
      level: 'error',
      message: 'session cannot be read: its workspaces are left open',
      fields: expect.objectContaining({ sessionId: session.id }),
    })
  })
})

test('a run of a session that cannot be read any more is stopped', async () => {
  const gate = createGate()
  const session = createSession({ brain: () => use('wait'), tools: [waitTool(gate)] })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await inObject(session, ({ storage }) => {
    storage.sql.exec(damages['status']!)
  })
  const { status } = await session.fetch('', remove)
  expect([status, await storedIn(session)]).toEqual([204, nothing])
})

test('everybody may remove what has no owner', async () => {
  expect(insecureAllowAnyone()).toEqual({})
  const session = createSession({ brain: () => say('x') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await inObject(session, ({ storage }) => {
    storage.sql.exec(damages['status']!)
  })
  expect((await session.fetch('', remove)).status).toBe(204)
})
