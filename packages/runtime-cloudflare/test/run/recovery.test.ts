import { env } from 'cloudflare:workers'
import type { Agent } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { DOStreamManager } from '@helix-agents/store-cloudflare'
import { describe, expect, test, vi } from 'vitest'
import { createGate, type Gate, say, type Script } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, untilAtRest } from '../session.ts'
import { MODEL_CALLS, recordedSession } from './recorded-session.ts'

const quick = { agent: 'quick', namespace: env.QUICK }
const MAX_ATTEMPTS = 5

/** A gate for each call of the model, made when it comes. */
function createGates() {
  const gates: Gate[] = []
  return {
    pass: () => {
      const gate = createGate()
      gates.push(gate)
      return gate.pass()
    },
    /** Asks for the session meanwhile, as its users do: that wakes it as well. */
    until: (count: number, session: TestSession) =>
      vi.waitFor(
        async () => {
          await session.get('/state')
          expect(gates).toHaveLength(count)
        },
        { timeout: 60_000, interval: 5 },
      ),
    openLast: () => gates.at(-1)?.open(),
  }
}

interface RunNote {
  readonly attempts: number
  readonly retryAt?: number
}

const keyOf = ({ id }: TestSession): string => `helix:run:${id}`

/** When the run is taken up next; at once, when that is in the past. */
function putRetryAt(
  session: TestSession,
  storage: DurableObjectStorage,
  retryAt: number,
): Promise<void> {
  const { kv } = storage
  kv.put(keyOf(session), { ...kv.get<RunNote>(keyOf(session)), retryAt })
  return storage.setAlarm(Math.max(retryAt, Date.now()))
}

function notesOf(session: TestSession): Promise<unknown[]> {
  return inObject(session, ({ storage }) =>
    [...storage.kv.list({ prefix: 'helix:run:' })].map(([, note]) => note),
  )
}

describe('a run that never gets any further', () => {
  test('fails after some attempts, and its readers are told', async () => {
    const gates = createGates()
    const brain: Script['brain'] = async () => {
      await gates.pass()
      return say('at last')
    }
    const session = createSession({ brain }, quick)
    await session.post('/start', { message: 'go' })
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt++) {
      await gates.until(attempt + 1, session)
      await crash()
    }
    expect(await session.ended()).toBe('failed')
    const { body } = await session.get('/state')
    expect(body.error).toMatchObject({ code: 'recovery-failed' })
    await untilAtRest(session)
    const chunks = await inObject(session, async ({ storage }) => {
      const read: SequencedChunk[] = []
      const stream = await new DOStreamManager(storage).read(session.id)
      for await (const chunk of stream ?? []) read.push(chunk)
      return read
    })
    expect(chunks.at(-1)).toMatchObject({ type: 'error', code: 'recovery-failed' })
    await session.post('/message', { message: 'once more' })
    await gates.until(MAX_ATTEMPTS + 2, session)
    gates.openLast()
    expect(await session.ended()).toBe('completed')
  })

  test('is not one that is cut off in each of its steps', async () => {
    const gates = createGates()
    const { brain, agents } = recordedSession()
    let cuts = 0
    const script: Script = {
      brain: async (messages, { agentType }) => {
        // Each step is asked for twice: the first time it is cut off.
        if (cuts++ % 2 === 0) await gates.pass()
        return brain(messages, agentType)
      },
      agents,
    }
    const session = createSession(script, { ...quick, agent: 'recorded' })
    await session.post('/start', { message: 'go' })
    for (let call = 1; call <= MODEL_CALLS; call++) {
      await gates.until(call, session)
      await crash()
    }
    expect(await session.ended()).toBe('completed')
    expect((await session.get('/state')).body).toMatchObject({ output: 'all done', stepCount: 6 })
  })
})

/** The agent is missing in the instances after the first, as after a wrong deploy. */
function withoutAgents(isMissing: () => boolean) {
  const gate = createGate()
  const { agents } = recordedSession()
  const brain: Script['brain'] = async (messages) => {
    if (messages.length === 1 && !isMissing()) await gate.pass()
    return say('done')
  }
  const script: Script = {
    brain,
    agents: (ctx): readonly Agent[] => (isMissing() ? [] : agents(ctx)),
  }
  return { gate, session: createSession(script, { ...quick, agent: 'recorded' }) }
}

describe('a run that cannot be taken up', () => {
  test('is tried again later, and goes on when it can', async () => {
    let isMissing = false
    const { gate, session } = withoutAgents(() => isMissing)
    await session.post('/start', { message: 'go' })
    await gate.begun
    isMissing = true
    await crash()
    await vi.waitFor(
      () =>
        inObject(session, async ({ storage }) => {
          // There is none while one rings.
          const alarm = await storage.getAlarm()
          const note = storage.kv.get<RunNote>(keyOf(session))!
          expect(note.attempts).toBeGreaterThan(0)
          expect(alarm ?? Number.NaN).toBeLessThanOrEqual(note.retryAt!)
          await putRetryAt(session, storage, Date.now() + 240_000)
        }),
      { timeout: 60_000 },
    )
    isMissing = false
    gate.open()
    await crash()
    // The time has not come: an instance that is made meanwhile leaves it alone.
    expect((await session.get('/state')).body.status).toBe('running')
    await inObject(session, ({ storage }) => putRetryAt(session, storage, 0))
    expect(await session.ended()).toBe('completed')
  })

  test('since its session is damaged is left alone after some attempts', async () => {
    const gate = createGate()
    const session = createSession({ brain: () => gate.pass().then(() => say('x')) })
    await session.post('/start', { message: 'go' })
    await gate.begun
    await inObject(session, ({ storage }) => {
      storage.sql.exec("UPDATE helix_sessions SET status = 'asleep'")
    })
    await crash()
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // The next attempt is that of the next instance, and no alarm comes before it.
      const attempts = await inObject(session, async ({ storage }) => {
        const note = storage.kv.get<RunNote>(keyOf(session))!
        storage.kv.put(keyOf(session), { ...note, retryAt: 0 })
        await storage.deleteAlarm()
        return note.attempts
      })
      expect(attempts).toBe(attempt)
      await crash()
    }
    expect(await notesOf(session)).toEqual([])
  })
})

test('a run that had ended before it could say so is told to its readers', async () => {
  const session = createSession({ brain: () => say('hello') }, quick)
  await session.post('/start', { message: 'go' })
  await session.ended()
  await inObject(session, ({ storage }) => {
    // As an instance leaves it that dies between the two.
    storage.sql.exec('UPDATE helix_streams SET is_open = 1')
    storage.sql.exec('DELETE FROM helix_chunks WHERE sequence = 2')
    const note = { sessionId: session.id, attempts: 0 }
    storage.kv.put(`helix:run:${session.id}`, note)
  })
  await crash()
  const text = await (await session.fetch('/stream')).text()
  expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, event]) => event)).toEqual([
    'text_delta',
    'output',
    'end',
  ])
  expect(await notesOf(session)).toEqual([])
})

test('notes that another release has written are left out', async () => {
  const session = createSession({ brain: () => say('hello') }, quick)
  await session.get('/state')
  await inObject(session, ({ storage }) => storage.kv.put('helix:run:x', { v: 2 }))
  await crash()
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
})

test('a run keeps its object awake by the alarm', async () => {
  const gate = createGate()
  const session = createSession({ brain: () => gate.pass().then(() => say('x')) })
  const before = Date.now()
  await session.post('/start', { message: 'go' })
  await gate.begun
  const alarm = await inObject(session, ({ storage }) => storage.getAlarm())
  expect(alarm).toBeGreaterThanOrEqual(before + 30_000)
  expect(alarm).toBeLessThanOrEqual(Date.now() + 30_000)
  gate.open()
  await session.ended()
  await untilAtRest(session)
})
