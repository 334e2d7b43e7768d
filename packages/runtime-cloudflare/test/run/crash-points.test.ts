// The object ends at every write of a whole session, before it and after it.
import { env } from 'cloudflare:workers'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, expect, test, vi } from 'vitest'
import type { Script } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, untilAtRest } from '../session.ts'
import { type Point, pointsOf, Writes } from './cut-writes.ts'
import { recordedSession } from './recorded-session.ts'

const sampler = new TestSampler()
/** Sessions; more than one, since most of it is waiting. */
const AT_ONCE = 8

afterEach(() => vi.restoreAllMocks())

function createRecorded(writes: Writes): TestSession {
  const { brain, agents } = recordedSession()
  const script: Script = {
    brain: (messages, { agentType }) => brain(messages, agentType),
    agents,
    providers: (storage) => {
      writes.belongTo(storage)
      return []
    },
  }
  return createSession(script, { agent: 'recorded', namespace: env.QUICK })
}

/** What a client does whose request was cut off. */
async function startAgain(session: TestSession): Promise<void> {
  const { status, body } = await session.get('/state')
  const isNew = status === 404 || body.status === 'idle'
  if (isNew) await session.post('/start', { message: 'go' })
  else if (body.messageCount === 0) await session.post('/message', { message: 'go' })
}

async function checkStory(session: TestSession, { at, when }: Point): Promise<void> {
  const where = `${when} write ${at}`
  expect([where, await session.ended()]).toEqual([where, 'completed'])
  await untilAtRest(session)
  const { effects, unknown } = await inObject(session, ({ storage }) => ({
    // Also in the session of the sub-agent.
    unknown: storage.sql
      .exec("SELECT 1 FROM helix_messages WHERE message LIKE '%outcome-unknown%'")
      .toArray().length,
    effects: storage.sql
      .exec('SELECT key FROM effects')
      .toArray()
      .map(({ key }) => key),
  }))
  for (const key of ['first', 'second', 'by the helper']) {
    const times = effects.filter((one) => one === key).length
    expect([where, key, times <= 1]).toEqual([where, key, true])
  }
  const missing = 4 - new Set(effects).size
  expect([where, missing <= unknown]).toEqual([where, true])
  const text = await (await session.fetch('/stream')).text()
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect([where, ids]).toEqual([where, ids.map((_, index) => ids[0]! + index)])
  expect([where, text.endsWith('event: end\ndata: {}\n\n')]).toEqual([where, true])
}

/** Sessions that run at the same time, each to its point, where all of them are cut off. */
async function checkCutOff(points: readonly Point[]): Promise<void> {
  const cuts = points.map((point) => {
    const writes = new Writes(point)
    const session = createRecorded(writes)
    const started = session.post('/start', { message: 'go' }).catch(() => undefined)
    return { point, session, started, begun: writes.gate.begun }
  })
  await Promise.all(cuts.map(({ begun }) => begun))
  await crash()
  await Promise.all(
    cuts.map(async ({ point, session, started }) => {
      await started
      await startAgain(session)
      await checkStory(session, point)
    }),
  )
}

test('a session that is cut off at any write ends as it should', async () => {
  Writes.spy()
  const writes = new Writes()
  const whole = createRecorded(writes)
  await whole.post('/start', { message: 'go' })
  await checkStory(whole, { at: 0, when: 'before' })
  expect(writes.count).toBeGreaterThan(30)
  const points = sampler.pick('writes', pointsOf(writes.count), 2 * AT_ONCE)
  for (let at = 0; at < points.length; at += AT_ONCE) {
    await checkCutOff(points.slice(at, at + AT_ONCE))
  }
}, 300_000)
