// What goes wrong around a run: nothing of it may reach a client, and nothing may be left hanging.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { defineAgent } from '@helix-agents/core'
import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createGate, say, use, waitTool } from '../scripts.ts'
import { crash, createSession, inObject, storedIn, untilAtRest } from '../session.ts'
import { failing, lines } from '../worker.ts'

const strict = defineAgent({
  name: 'tested',
  llmConfig: { model: 'scripted' },
  stateSchema: z.object({ count: z.number().default(0) }),
})
const tabled = { agent: 'tabled', namespace: env.TABLED }

afterEach(() => {
  failing.clear()
  vi.restoreAllMocks()
})

describe('an object whose `onStart` throws', () => {
  test('shows nothing of it, and works as soon as it does', async () => {
    const session = createSession({ brain: () => say('hello') }, tabled)
    failing.add(session.id)
    const refused = await session.post('/start', { message: 'go' })
    expect(refused).toMatchObject({ status: 500, body: { error: { code: 'internal' } } })
    expect(JSON.stringify(refused.body)).not.toContain('secret')
    failing.clear()
    expect((await session.post('/start', { message: 'go' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
    failing.add(session.id)
    await crash()
    const headers = { upgrade: 'websocket' }
    const socket = await exports.default.fetch(session.url('/socket'), { headers })
    expect([socket.status, await socket.text()]).toEqual([
      500,
      expect.not.stringContaining('secret'),
    ])
  })

  test('is woken again, ever later, until it works', async () => {
    const gate = createGate()
    const session = createSession({ brain: () => gate.pass().then(() => say('late')) }, tabled)
    await session.post('/start', { message: 'go' })
    await gate.begun
    failing.add(session.id)
    await crash()
    for (const minutes of [1, 4, 16]) {
      const before = Date.now()
      await runDurableObjectAlarm(session.stub)
      const { alarm } = await storedIn(session)
      const pause = (alarm! - before) / 60_000
      expect([minutes, Math.round(pause)]).toEqual([minutes, minutes])
    }
    failing.clear()
    gate.open()
    await runDurableObjectAlarm(session.stub)
    expect(await session.ended()).toBe('completed')
    await untilAtRest(session)
    await session.get('/state')
    expect((await storedIn(session)).keys).toEqual(['__ps_name'])
  })
})

test('a path of a subclass that throws shows nothing of it', async () => {
  const session = createSession({ brain: () => say('hello') }, tabled)
  const answer = await session.get('/thrown')
  expect(answer).toMatchObject({ status: 500, body: { error: { code: 'internal' } } })
  expect(JSON.stringify(answer.body)).not.toContain('secret')
  expect(
    lines.some(({ fields }) => String((fields as { err?: unknown }).err).includes('secret')),
  ).toBe(true)
})

test('an `onConnect` of a subclass that throws shows nothing of it', async () => {
  const session = createSession({ brain: () => say('hello') }, tabled)
  await session.post('/start', { message: 'go' })
  await session.ended()
  failing.add(`${session.id} connect`)
  const headers = { upgrade: 'websocket' }
  const { webSocket } = await exports.default.fetch(session.url('/socket'), { headers })
  const received: unknown[] = []
  const closed = new Promise((resolve) => {
    webSocket!.addEventListener('message', ({ data }) => received.push(data))
    webSocket!.addEventListener('close', ({ code, reason }) => resolve([code, reason]))
  })
  webSocket!.accept()
  expect(await closed).toEqual([1011, 'the session failed'])
  expect(received).toEqual([])
})

test('what a session says does not come into the log', async () => {
  const session = createSession({
    brain: (messages) => {
      if (messages.length < 2) return use('unknown-tool', { key: 'the key of the client' })
      throw new Error('the model is broken')
    },
  })
  const before = lines.length
  await session.post('/start', { message: 'the prompt of the client' })
  expect(await session.ended()).toBe('failed')
  await session.fetch('/message', {
    method: 'POST',
    headers: { authorization: 'Bearer the token of the client' },
    body: '{"message":"the prompt of the client"',
  })
  const text = JSON.stringify(lines.slice(before), (_, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack } : value,
  )
  expect(text).not.toContain('of the client')
})

test('a start with a state that the agent does not accept stores nothing', async () => {
  const session = createSession(
    { brain: () => say('x'), agents: () => [strict] },
    { agent: 'tested' },
  )
  const refused = await session.post('/start', { message: 'go', state: { count: 'many' } })
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'definition-invalid' } } })
  expect(await storedIn(session)).toEqual({ tables: [], keys: [], alarm: null })
})

/** From now on no store takes anything. */
const full = () => {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
  const write = DurableObjectDatabase.prototype.write
  vi.spyOn(DurableObjectDatabase.prototype, 'write').mockImplementation(function (
    this: DurableObjectDatabase,
  ) {
    return write.call(this, (sql) => sql.run('the secret path of the database')) as never
  })
}

describe('a store that does not take any more', () => {
  test('refuses a start, and leaves nothing', async () => {
    const session = createSession({ brain: () => say('hello') })
    full()
    const refused = await session.post('/start', { message: 'go' })
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
    expect(JSON.stringify(refused.body)).not.toContain('secret')
    expect(await storedIn(session)).toEqual({ tables: [], keys: [], alarm: null })
    vi.restoreAllMocks()
    expect((await session.post('/start', { message: 'go' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
  })

  test('in the middle of a run: that is taken up when the store answers', async () => {
    const gate = createGate()
    let calls = 0
    const session = createSession({
      brain: async (messages) => {
        if (calls++ === 0) await gate.pass()
        return say(`answer to ${messages.length}`)
      },
    })
    const before = Date.now()
    await session.post('/start', { message: 'go' })
    await gate.begun
    full()
    gate.open()
    const key = `helix:run:${session.id}`
    // Nobody carries it any more, once its end could not be stored, and the alarm is set for that.
    const isGivenUp = async () => {
      const note = await inObject(session, ({ storage }) => storage.kv.get(key))
      expect(note).toMatchObject({ retryAt: expect.any(Number) })
    }
    await vi.waitFor(isGivenUp, { timeout: 60_000 })
    vi.restoreAllMocks()
    const { alarm } = await storedIn(session)
    expect(alarm! - before).toBeGreaterThan(50_000)
    // The lease of the run that is dead.
    await inObject(session, ({ storage }) => {
      storage.sql.exec('UPDATE helix_sessions SET lease_until = 0')
      storage.kv.put(key, { ...(storage.kv.get(key) as object), retryAt: 0 })
    })
    await runDurableObjectAlarm(session.stub)
    expect(await session.ended()).toBe('completed')
    expect((await session.get('/state')).body.output).toBe('answer to 1')
    await untilAtRest(session)
  })
})

test('of two starts at once one is refused', async () => {
  const session = createSession({ brain: (messages) => say(`${messages.length}`) })
  const starts = await Promise.all(
    Array.from({ length: 5 }, () => session.post('/start', { message: 'go' })),
  )
  expect(starts.map(({ status }) => `${status}`).toSorted()).toEqual([
    '202',
    '409',
    '409',
    '409',
    '409',
  ])
  await session.ended()
  expect(await session.messages()).toHaveLength(2)
})

test('an interrupt that comes while a run is starting interrupts it', async () => {
  const gate = createGate()
  const session = createSession({
    brain: (messages) => (messages.length < 3 ? use('wait') : say('too far')),
    tools: [waitTool(gate)],
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await session.post('/abort')
  gate.open()
  await session.ended()
  const [begun, interrupted] = await Promise.all([
    session.post('/message', { message: 'again' }),
    session.post('/interrupt'),
  ])
  expect(begun.status).toBe(202)
  // It came before the start, or stopped what that had begun.
  const status = await session.ended()
  expect([interrupted.status, status]).toEqual(
    interrupted.status === 202 ? [202, 'interrupted'] : [409, 'completed'],
  )
})

test('an alarm that rings twice, or for nothing, does nothing', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await untilAtRest(session)
  const before = await session.get('/state')
  for (let ring = 0; ring < 3; ring++) {
    await inObject(session, ({ storage }) => storage.setAlarm(Date.now() + 60_000))
    await runDurableObjectAlarm(session.stub)
    expect((await storedIn(session)).alarm).toBeNull()
  }
  expect((await session.get('/state')).body).toEqual(before.body)
})

test('an alarm of an object without a session leaves nothing', async () => {
  const session = createSession()
  await inObject(session, ({ storage }) => storage.setAlarm(Date.now() + 60_000))
  await runDurableObjectAlarm(session.stub)
  expect(await storedIn(session)).toEqual({ tables: [], keys: [], alarm: null })
})

test('an alarm that is lost does not lose the run: the next request finds it', async () => {
  const gate = createGate()
  let calls = 0
  const session = createSession({
    brain: async () => {
      if (calls++ === 0) await gate.pass()
      return say('hello')
    },
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  await inObject(session, ({ storage }) => storage.deleteAlarm())
  await crash()
  expect(await session.ended()).toBe('completed')
})
