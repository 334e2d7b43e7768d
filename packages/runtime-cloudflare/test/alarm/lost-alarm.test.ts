// The platform tries an alarm that fails six times and forgets it then: no run may be lost by that.
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { type Agent, defineAgent } from '@helix-agents/core'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { afterEach, describe, expect, test } from 'vitest'
import { breakAlarms } from '../broken-storage.ts'
import { createGate, say, type Script } from '../scripts.ts'
import {
  crash,
  createSession,
  inObject,
  storedIn,
  type TestSession,
  untilAtRest,
} from '../session.ts'

const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

const agent = defineAgent({ name: 'tested', llmConfig: { model: 'scripted' } })

/** A run that was cut off; `parts` of its object fail from then on, until told otherwise. */
async function createCutOff(parts: (assertWorks: () => void) => Partial<Script>) {
  const gate = createGate()
  let isBroken = false
  const assertWorks = (): void => {
    if (isBroken) throw new Error('the deploy is broken')
  }
  const session = createSession({
    brain: async (messages) => {
      await gate.pass()
      return say(`answer to ${messages.length}`)
    },
    ...parts(assertWorks),
  })
  await session.post('/start', { message: 'go' })
  await gate.begun
  isBroken = true
  await crash()
  await putRetryAt(session, Date.now() + 240_000)
  gate.open()
  return { session, repair: () => void (isBroken = false) }
}

/** As the platform does; whether it has been answered. */
async function ring(session: TestSession): Promise<boolean> {
  return runDurableObjectAlarm(session.stub).catch(() => false)
}

/** When the run is taken up next, and the alarm for it. */
function putRetryAt(session: TestSession, retryAt: number): Promise<void> {
  return inObject(session, async ({ storage }) => {
    const key = `helix:run:${session.id}`
    storage.kv.put(key, { ...storage.kv.get<object>(key), retryAt })
    if (retryAt > 0) await storage.setAlarm(retryAt)
  })
}

const withoutAgents = (assertWorks: () => void): Partial<Script> => ({
  agents: (): readonly Agent[] => {
    assertWorks()
    return [agent]
  },
})

describe('an alarm that cannot be set again', () => {
  test.each(['/state', '/healthz', '/messages'])(
    'is missed by nobody: the run goes on with GET %s',
    async (path) => {
      const { session, repair } = await createCutOff(withoutAgents)
      const mend = await breakAlarms(session)
      ends.push(mend)
      expect(await ring(session)).toBe(false)
      expect(await storedIn(session)).toMatchObject({
        alarm: null,
        keys: expect.arrayContaining([`helix:run:${session.id}`]),
      })
      mend()
      repair()
      await putRetryAt(session, 0)
      // The same instance: no other one is made as long as clients ask.
      await session.get(path)
      expect(await session.ended()).toBe('completed')
      await untilAtRest(session)
    },
  )

  test('refuses a start, and leaves nothing', async () => {
    const session = createSession({ brain: () => say('hello') })
    const mend = await breakAlarms(session)
    ends.push(mend)
    const refused = await session.post('/start', { message: 'go' })
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
    mend()
    expect(await storedIn(session)).toEqual({ tables: [], keys: [], alarm: null })
    expect((await session.post('/start', { message: 'go' })).status).toBe(202)
    expect(await session.ended()).toBe('completed')
  })
})

test('providers that fail keep no session from being read, and their runs are taken up later', async () => {
  const { session, repair } = await createCutOff((assertWorks) => ({
    providers: () => {
      assertWorks()
      return []
    },
  }))
  for (let round = 0; round < 3; round++) {
    expect((await session.get('/state')).body).toMatchObject({ status: 'running' })
    expect(await ring(session)).toBe(true)
    expect((await storedIn(session)).alarm).toBeGreaterThan(Date.now())
  }
  repair()
  await putRetryAt(session, 0)
  await crash()
  expect(await session.ended()).toBe('completed')
  await untilAtRest(session)
})

describe('two runs of one object', () => {
  test.each([
    ['both', []],
    ['one, when the agent of the other is missing', ['other']],
  ] as const)('share its alarm: it takes up %s', async (_, missing) => {
    const gate = createGate()
    const gone = new Set<string>()
    const names = ['tested', 'other']
    const agents = (): readonly Agent[] =>
      names
        .filter((name) => !gone.has(name))
        .map((name) => defineAgent({ name, llmConfig: { model: 'scripted' } }))
    const brain: Script['brain'] = (_messages, { agentType }) =>
      gate.pass().then(() => say(`answer of ${agentType}`))
    const session = createSession({ brain, agents })
    await session.post('/start', { message: 'go' })
    await runInDurableObject(session.stub, async (instance: DurableObject) => {
      const { executor } = instance as unknown as { readonly executor: JSAgentExecutor }
      const [, other] = agents()
      await executor.execute(other!, 'go', { sessionId: `${session.id}-2` })
    })
    for (const name of missing) gone.add(name)
    await crash()
    gate.open()
    expect(await session.ended()).toBe('completed')
    // The other one has its time.
    gone.clear()
    await crash()
    await untilAtRest(session)
    const { outputs } = await runInDurableObject(session.stub, (__, { storage }) => ({
      outputs: storage.sql.exec('SELECT status FROM helix_sessions').toArray(),
    }))
    expect(outputs).toEqual([{ status: 'completed' }, { status: 'completed' }])
  })
})
