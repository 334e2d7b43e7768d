import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { defineAgent, defineTool } from '@helix-agents/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clockError, createGate, say, type Script, use, waitTool } from '../scripts.ts'
import {
  crash,
  createSession,
  inObject,
  storedIn,
  type TestSession,
  untilAtRest,
} from '../session.ts'

afterEach(() => void vi.unstubAllGlobals())

const quick = { agent: 'quick', namespace: env.QUICK }

/** A tool that asks before it writes a row into the storage of the object. */
const pay = (ctx: DurableObjectState) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: {
      type: 'object',
      properties: { amount: { type: 'number' } },
      required: ['amount'],
    },
    needsApproval: true,
    execute: (input) => {
      ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS payments (input TEXT)')
      ctx.storage.sql.exec('INSERT INTO payments VALUES (?)', JSON.stringify(input))
      return 'paid'
    },
  })

const brain: Script['brain'] = (messages) => {
  const last = messages.at(-1)
  return last?.role === 'tool'
    ? say(`it says: ${JSON.stringify(last.content)}`)
    : use('pay', { amount: 5 })
}
const script = { brain, tools: (ctx: DurableObjectState) => [pay(ctx)] }

async function waiting(given: Partial<Script> = {}): Promise<TestSession> {
  const session = createSession({ ...script, ...given }, quick)
  await session.post('/start', { message: 'pay' })
  await session.ended()
  return session
}

async function requestsOf(session: TestSession) {
  return (await session.get('/requests')).body.items
}

async function payments(session: TestSession): Promise<readonly string[]> {
  return inObject(session, ({ storage }) => {
    storage.sql.exec('CREATE TABLE IF NOT EXISTS payments (input TEXT)')
    const rows = storage.sql.exec<{ input: string }>('SELECT input FROM payments').toArray()
    return rows.map(({ input }) => input)
  })
}

/** Timers that are set from now on and have neither rung nor been cleared; tests share the isolate. */
function trackTimers() {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const pending = new Map<unknown, unknown>()
  let count = 0
  vi.stubGlobal('setTimeout', (work: () => void, ms?: number) => {
    const id: unknown = set(() => {
      pending.delete(id)
      work()
    }, ms)
    pending.set(id, ms)
    count += 1
    return id
  })
  vi.stubGlobal('clearTimeout', (id: Parameters<typeof clear>[0]) => {
    pending.delete(id)
    clear(id)
  })
  return { pending: () => [...pending.values()], count: () => count }
}

test('asks, is killed while it waits, is answered in a new instance, and pays once', async () => {
  const session = await waiting()
  expect((await session.get('/state')).body.status).toBe('waiting')
  const [request] = await requestsOf(session)
  expect(request).toMatchObject({
    sessionId: session.id,
    kind: 'approval',
    toolName: 'pay',
    arguments: '{"amount":5}',
    preview: { title: 'pay' },
    agentPath: ['quick'],
  })
  await crash()
  expect(await requestsOf(session)).toEqual([request])
  expect((await session.get(`/requests/${request.requestId}`)).body).toEqual(request)
  const path = `/requests/${request.requestId}`
  const answered = await session.post(path, { decision: 'approve', reason: 'it is due' })
  expect(answered).toMatchObject({
    status: 202,
    body: { sessionId: session.id, request: { resolution: { decision: 'approve' } } },
  })
  expect(await session.ended()).toBe('completed')
  expect((await session.get('/state')).body.output).toBe('it says: "paid"')
  expect(await payments(session)).toEqual(['{"amount":5}'])
  const again = await session.post(path, { decision: 'deny' })
  expect(again).toMatchObject({ status: 409, body: { error: { code: 'already-decided' } } })
  expect(await payments(session)).toEqual(['{"amount":5}'])
})

describe('an object whose session waits', () => {
  test('has no alarm, no run and no timer, and is evicted', async () => {
    const timers = trackTimers()
    const session = await waiting()
    await untilAtRest(session)
    expect(timers.count()).toBeGreaterThan(0)
    expect(timers.pending()).toEqual([])
    // The platform evicts only what no request, no promise and no timer keeps in memory.
    await evictDurableObject(session.stub)
    const [request] = await requestsOf(session)
    await untilAtRest(session)
    expect(timers.pending()).toEqual([])
    await session.post(`/requests/${request.requestId}`, { decision: 'deny', reason: 'too much' })
    expect(await session.ended()).toBe('completed')
    expect((await session.get('/state')).body.output).toContain('too much')
    expect(await payments(session)).toEqual([])
  })

  test('is woken when its request expires, and by nothing else', async () => {
    const llmConfig = { model: 'scripted' }
    const approvals = { expiresInMs: 60_000 }
    const session = await waiting({
      agents: (ctx) => [defineAgent({ name: 'quick', llmConfig, tools: [pay(ctx)], approvals })],
    })
    const [{ expiresAt, requestId }] = await requestsOf(session)
    await vi.waitFor(
      async () => {
        expect(await storedIn(session)).toMatchObject({ alarm: expiresAt })
      },
      { timeout: 60_000 },
    )
    await evictDurableObject(session.stub)
    clockError.ms = 60_000
    try {
      await inObject(session, ({ storage }) => storage.setAlarm(Date.now()))
      await vi.waitFor(
        async () => {
          expect((await session.get('/state')).body.status).toBe('completed')
        },
        { timeout: 60_000 },
      )
    } finally {
      clockError.ms = 0
    }
    expect((await session.get('/state')).body.output).toContain('in time')
    expect(await payments(session)).toEqual([])
    const late = await session.post(`/requests/${requestId}`, { decision: 'approve' })
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'expired' } } })
  })

  test('resumes what was answered before an eviction', async () => {
    const session = await waiting()
    const [{ requestId }] = await requestsOf(session)
    // As an eviction between the answer and the resume leaves it.
    await inObject(session, async (ctx) => {
      const { DOStateStore } = await import('@helix-agents/store-cloudflare')
      const resolution = { decision: 'approve', at: Date.now() } as const
      await new DOStateStore(ctx.storage).resolveRequest(session.id, requestId, resolution)
      ctx.storage.kv.put(`helix:run:${session.id}`, { sessionId: session.id, attempts: 0 })
    })
    await crash()
    expect(await session.ended()).toMatch(/waiting|completed/)
    await vi.waitFor(
      async () => {
        expect((await session.get('/state')).body.status).toBe('completed')
      },
      { timeout: 60_000 },
    )
    expect(await payments(session)).toEqual(['{"amount":5}'])
  })
})

describe('an answer', () => {
  test('with other arguments is what runs, and the model reads so', async () => {
    const session = await waiting()
    const [{ requestId }] = await requestsOf(session)
    const path = `/requests/${requestId}`
    const invalid = await session.post(path, { decision: 'approve', input: { amount: 'x' } })
    expect(invalid).toMatchObject({ status: 400, body: { error: { code: 'invalid-answer' } } })
    expect(invalid.body.error.message).toContain('input.amount')
    expect((await session.get(path)).body.resolution).toBeUndefined()
    await session.post(path, { decision: 'approve', input: { amount: 3 } })
    expect(await session.ended()).toBe('completed')
    expect(await payments(session)).toEqual(['{"amount":3}'])
    expect((await session.get('/state')).body.output).toContain('edited')
  })

  test.each([
    [{}, 400],
    [{ decision: 'yes' }, 400],
    [{ decision: 'approve', by: 'somebody else' }, 400],
    [{ output: 'x' }, 400],
  ])('%j is rejected, and the request stays open', async (body, status) => {
    const session = await waiting()
    const [request] = await requestsOf(session)
    const path = `/requests/${request.requestId}`
    expect((await session.post(path, body)).status).toBe(status)
    expect((await session.get(path)).body).toEqual(request)
  })

  test('of another session, and to what nobody has asked, is a 404', async () => {
    const [one, other] = [await waiting(), await waiting()]
    const [{ requestId }] = await requestsOf(one)
    for (const [session, id] of [
      [other, requestId],
      [one, crypto.randomUUID()],
    ] as const) {
      const path = `/requests/${id}`
      expect((await session.get(path)).status).toBe(404)
      expect((await session.post(path, { decision: 'approve' })).status).toBe(404)
    }
    const never = createSession(script, quick)
    expect((await never.get('/requests')).status).toBe(404)
    const path = `/requests/${requestId}`
    expect((await never.post(path, { decision: 'approve' })).status).toBe(404)
    expect(await storedIn(never)).toEqual({ tables: [], keys: [], alarm: null })
    await one.fetch('/', { method: 'DELETE' })
    expect((await one.post(path, { decision: 'approve' })).status).toBe(404)
    expect((await one.fetch(path, { method: 'PUT' })).status).toBe(405)
  })

  test('that is late is acted on by the run that is under way', async () => {
    const gate = createGate()
    const session = createSession(
      {
        brain: (messages) =>
          messages.length > 1
            ? say('done')
            : {
                type: 'tool_calls',
                toolCalls: [
                  { id: '1', name: 'pay', arguments: { amount: 1 } },
                  { id: '2', name: 'wait', arguments: {} },
                ],
              },
        tools: (ctx) => [pay(ctx), waitTool(gate)],
      },
      quick,
    )
    await session.post('/start', { message: 'go' })
    await gate.begun
    const [{ requestId }] = await vi.waitFor(
      async () => {
        const found = await requestsOf(session)
        expect(found).toHaveLength(1)
        return found
      },
      { timeout: 60_000 },
    )
    await session.post(`/requests/${requestId}`, { decision: 'approve' })
    gate.open()
    await vi.waitFor(
      async () => {
        expect((await session.get('/state')).body.status).toBe('completed')
      },
      { timeout: 60_000 },
    )
    expect(await payments(session)).toEqual(['{"amount":1}'])
    await untilAtRest(session)
  })
})

test('over a WebSocket that stays connected while the object sleeps', async () => {
  const session = await waiting()
  const response = await session.fetch('/socket', { headers: { upgrade: 'websocket' } })
  const socket = response.webSocket
  const received: { readonly type: string; readonly [name: string]: unknown }[] = []
  socket?.addEventListener('message', ({ data }) => received.push(JSON.parse(String(data))))
  socket?.accept()
  const until = (type: string) =>
    vi.waitFor(
      () => {
        const found = received.find((one) => one.type === type)
        expect(found).toBeDefined()
        return found
      },
      { timeout: 60_000 },
    )
  expect(await until('approval_request')).toMatchObject({ toolName: 'pay' })
  await until('end')
  await untilAtRest(session)
  await evictDurableObject(session.stub)
  const [{ requestId }] = await requestsOf(session)
  const unknown = { type: 'respond', requestId: 'x', answer: { decision: 'deny' }, id: '1' }
  socket?.send(JSON.stringify(unknown))
  expect(await until('refused')).toMatchObject({ id: '1', error: { code: 'unknown-request' } })
  socket?.send(JSON.stringify({ ...unknown, requestId, answer: { decision: 'approve' }, id: '2' }))
  expect(await until('accepted')).toMatchObject({ id: '2', sessionId: session.id })
  expect(await until('approval_resolved')).toMatchObject({ requestId, decision: 'approve' })
  expect(await until('output')).toMatchObject({ output: 'it says: "paid"' })
  expect(await payments(session)).toEqual(['{"amount":5}'])
  socket?.close()
})

test('a session that waits is aborted, and what it asked is withdrawn', async () => {
  const session = await waiting()
  const [{ requestId }] = await requestsOf(session)
  expect((await session.post('/message', { message: 'and?' })).body.error.code).toBe('waiting')
  expect((await session.post('/abort')).status).toBe(202)
  expect((await session.get('/state')).body.status).toBe('aborted')
  const answered = await session.post(`/requests/${requestId}`, { decision: 'approve' })
  expect(answered.status).toBe(409)
  expect(await payments(session)).toEqual([])
})
