// The object ends at every write of a whole session, before it and after it.
import { env } from 'cloudflare:workers'
import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import { afterEach, expect, test, vi } from 'vitest'
import { createGate, type Gate, type Script } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, untilAtRest } from '../session.ts'
import { recordedSession } from './recorded-session.ts'

interface Point {
  readonly at: number
  readonly when: 'before' | 'after'
}

afterEach(() => vi.restoreAllMocks())

/** Stops the object at one of its writes; counts them. */
function stopAt(point: Point, gate: Gate): { readonly writes: number } {
  const state = { writes: 0 }
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
  const write = DurableObjectDatabase.prototype.write
  const pass = async (when: Point['when'], at: number): Promise<void> => {
    if (point.when === when && point.at === at) await gate.pass()
  }
  vi.spyOn(DurableObjectDatabase.prototype, 'write').mockImplementation(async function (
    this: DurableObjectDatabase,
    work,
  ) {
    const at = ++state.writes
    await pass('before', at)
    const result = await write.call(this, work)
    await pass('after', at)
    return result
  })
  return state
}

function createRecorded(): TestSession {
  const { brain, agents } = recordedSession()
  const script: Script = { brain: (messages, { agentType }) => brain(messages, agentType), agents }
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

test('a session that is cut off at any write ends as it should', async () => {
  const whole = createRecorded()
  const count = stopAt({ at: 0, when: 'before' }, createGate())
  await whole.post('/start', { message: 'go' })
  await checkStory(whole, { at: 0, when: 'before' })
  const { writes } = count
  expect(writes).toBeGreaterThan(30)
  vi.restoreAllMocks()
  for (let at = 1; at <= writes; at++) {
    for (const when of ['before', 'after'] as const) {
      const session = createRecorded()
      const gate = createGate()
      stopAt({ at, when }, gate)
      const cut = session.post('/start', { message: 'go' }).catch(() => undefined)
      await gate.begun
      await crash()
      await cut
      await startAgain(session)
      await checkStory(session, { at, when })
      vi.restoreAllMocks()
    }
  }
}, 120_000)
