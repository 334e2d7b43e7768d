// The object ends at every write of a session that asks, waits, is answered and goes on.
import { env } from 'cloudflare:workers'
import { defineTool } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { say, use } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, untilAtRest } from '../session.ts'
import { type Point, pointsOf, Writes } from './cut-writes.ts'

const sampler = new TestSampler()
const AT_ONCE = 6

afterEach(() => vi.restoreAllMocks())

/** A tool that asks before it writes a row into the storage of the object. */
const pay = ({ storage }: DurableObjectState) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
    needsApproval: true,
    execute: (input) => {
      storage.sql.exec('CREATE TABLE IF NOT EXISTS payments (input TEXT)')
      storage.sql.exec('INSERT INTO payments VALUES (?)', JSON.stringify(input))
      return 'paid'
    },
  })

function createAsking(writes: Writes): TestSession {
  const script = {
    brain: (messages: readonly { readonly role: string }[]) =>
      messages.some(({ role }) => role === 'tool') ? say('done') : use('pay', { amount: 5 }),
    tools: (ctx: DurableObjectState) => [pay(ctx)],
    providers: (storage: DurableObjectStorage) => {
      writes.belongTo(storage)
      return []
    },
  }
  return createSession(script, { agent: 'quick', namespace: env.QUICK })
}

/** What a client and a person do until the session is over. */
async function drive(session: TestSession): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    const { status, body } = await session.get('/state')
    if (body.status === 'completed') return
    if (status === 404 || body.status === 'idle') await session.post('/start', { message: 'go' })
    else if (body.messageCount === 0) await session.post('/message', { message: 'go' })
    else if (body.status === 'waiting') await answer(session)
    await session.ended()
  }
  throw new Error('it does not end')
}

async function answer(session: TestSession): Promise<void> {
  const { items } = (await session.get('/requests')).body
  const open = items.filter((one: { readonly resolution?: unknown }) => !one.resolution)
  if (open.length === 0) await session.post('/resume')
  for (const { requestId } of open) {
    await session.post(`/requests/${requestId}`, { decision: 'approve' })
  }
}

async function checkStory(session: TestSession, { at, when }: Point): Promise<void> {
  const where = `${when} write ${at}`
  await drive(session)
  await untilAtRest(session)
  const stored = await inObject(session, ({ storage: { sql } }) => {
    sql.exec('CREATE TABLE IF NOT EXISTS payments (input TEXT)')
    const count = (statement: string): number => sql.exec(statement).toArray().length
    return {
      payments: sql
        .exec('SELECT input FROM payments')
        .toArray()
        .map(({ input }) => input),
      requests: sql.exec('SELECT decision FROM helix_requests').toArray(),
      results: count(`SELECT 1 FROM helix_messages WHERE message LIKE '%"toolCallId"%'`),
      unknown: count(`SELECT 1 FROM helix_messages WHERE message LIKE '%outcome-unknown%'`),
    }
  })
  const { payments, requests, results, unknown } = stored
  expect([where, requests, results]).toEqual([where, [{ decision: 'approve' }], 1])
  const isToldWhatIsSo = payments.length === 1 || unknown === 1
  expect([where, payments.length <= 1, isToldWhatIsSo]).toEqual([where, true, true])
  for (const input of payments) expect(input).toBe('{"amount":5}')
}

/** Sessions that run at the same time, each to its point, where all of them are cut off. */
async function checkCutOff(points: readonly Point[]): Promise<void> {
  const cuts = points.map((point) => {
    const writes = new Writes(point)
    const session = createAsking(writes)
    const driven = drive(session).catch(() => undefined)
    return { point, session, driven, begun: writes.gate.begun }
  })
  await Promise.all(cuts.map(({ begun }) => begun))
  await crash()
  await Promise.all(
    cuts.map(async ({ point, session, driven }) => {
      await driven
      await checkStory(session, point)
    }),
  )
}

test('a session that waits is cut off at any write, and pays once', async () => {
  Writes.spy()
  const writes = new Writes()
  const whole = createAsking(writes)
  await checkStory(whole, { at: 0, when: 'before' })
  expect(writes.count).toBeGreaterThan(10)
  const points = sampler.pick('writes', pointsOf(writes.count), 2 * AT_ONCE)
  for (let at = 0; at < points.length; at += AT_ONCE) {
    await checkCutOff(points.slice(at, at + AT_ONCE))
  }
}, 300_000)
