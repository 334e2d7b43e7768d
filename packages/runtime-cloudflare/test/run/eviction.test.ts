import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { createGate, say, type Script } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession, untilAtRest } from '../session.ts'
import { type Cut, MODEL_CALLS, RECORD_CALLS, recordedSession } from './recorded-session.ts'

const quick = { agent: 'quick', namespace: env.QUICK }

/** What is left of a session when it is over. */
async function storyOf(session: TestSession) {
  const status = await session.ended()
  const { body } = await session.get('/state')
  await untilAtRest(session)
  const effects = await inObject(session, ({ storage }) =>
    storage.sql
      .exec('SELECT key FROM effects')
      .toArray()
      .map(({ key }) => key),
  )
  const messages = (await session.messages()).map((message) =>
    message.role === 'tool' ? { ...message, content: withoutTimes(message.content) } : message,
  )
  return { status, output: body.output, stepCount: body.stepCount, messages, effects }
}

function withoutTimes(content: unknown): string {
  return JSON.stringify(content).replaceAll(/version [^ ,)"\\]+/g, 'version')
}

async function recorded(cut?: Cut): Promise<TestSession> {
  const { brain, agents } = recordedSession(cut)
  const script: Script = { brain: (messages, { agentType }) => brain(messages, agentType), agents }
  const session = createSession(script, { ...quick, agent: 'recorded' })
  await session.post('/start', { message: 'go' })
  return session
}

/** Cuts a session off once, and lets it go on. */
async function cutOff(of: Cut['of'], at: number) {
  const gate = createGate()
  const session = await recorded({ of, at, gate })
  await gate.begun
  // A crash takes back what is not on disk yet; a model outside is asked once all of it is.
  await inObject(session, ({ storage }) => storage.sync())
  await crash()
  return storyOf(session)
}

describe('a session that is cut off', () => {
  const atEachModelCall = Array.from({ length: MODEL_CALLS }, (_, index) => index + 1)

  test.each(atEachModelCall)('between two steps, at model call %i, ends as without', async (at) => {
    const whole = await storyOf(await recorded())
    expect(whole).toMatchObject({ status: 'completed', output: 'all done', stepCount: 6 })
    expect(whole.effects).toEqual(['first', 'second', 'by the helper', 'again'])
    expect(await cutOff('model', at)).toEqual(whole)
  })

  const atEachRecord = Array.from({ length: RECORD_CALLS }, (_, index) => index + 1)

  test.each(atEachRecord)('in tool call %i, before its effect, is told so', async (at) => {
    const { effects, messages, status } = await cutOff('before effect', at)
    expect(status).toBe('completed')
    expect(effects).toHaveLength(3)
    expect(JSON.stringify(messages).match(/outcome-unknown/g)?.length ?? 0).toBe(at === 3 ? 0 : 1)
  })

  test.each(atEachRecord)('in tool call %i, after its effect, does not do it twice', async (at) => {
    const { effects, status } = await cutOff('after effect', at)
    expect(status).toBe('completed')
    expect(effects).toEqual(['first', 'second', 'by the helper', 'again'])
  })

  test('in a tool that may run again runs it again', async () => {
    const { effects, messages } = await cutOff('after effect', 4)
    expect(effects).toEqual(['first', 'second', 'by the helper', 'again', 'again'])
    expect(JSON.stringify(messages)).not.toContain('outcome-unknown')
  })
})

test('an object whose run is cut off is woken by its alarm', async () => {
  const first = createGate()
  let calls = 0
  const brain: Script['brain'] = async (messages) => {
    calls++
    if (calls === 1) await first.pass()
    return say(`answer to ${messages.length}`)
  }
  const session = createSession({ brain }, quick)
  await session.post('/start', { message: 'hello' })
  await first.begun
  await crash()
  // Nobody asks the object for anything.
  await vi.waitFor(() => expect(calls).toBe(2), { timeout: 60_000 })
  expect(await session.ended()).toBe('completed')
  expect((await session.messages()).map(({ content }) => content)).toEqual(['hello', 'answer to 1'])
  await untilAtRest(session)
})

test('a session that rests is evicted, and goes on with its next turn', async () => {
  const session = createSession({ brain: (messages) => say(`${messages.length}`) }, quick)
  await session.post('/start', { message: 'one' })
  expect(await session.ended()).toBe('completed')
  await evictDurableObject(session.stub)
  await session.post('/message', { message: 'two' })
  expect(await session.ended()).toBe('completed')
  expect((await session.messages()).map(({ content }) => content)).toEqual(['one', '1', 'two', '3'])
})

test('a run under way keeps its object in memory', async () => {
  const happened: string[] = []
  // No timer, and no answer that is waited for: only the run itself.
  const late = Promise.withResolvers<void>()
  const session = createSession({
    brain: async () => {
      happened.push('model')
      await late.promise
      return say('late')
    },
  })
  const idle = createSession({ brain: () => say('at once') })
  await idle.post('/start', { message: 'hello' })
  await idle.ended()
  await untilAtRest(idle)
  await session.post('/start', { message: 'hello' })
  await vi.waitFor(() => expect(happened).toEqual(['model']), { timeout: 60_000 })
  const evicted = evictDurableObject(session.stub).then(() => happened.push('evicted'))
  // The one that was asked for later, of an object at rest, does not take as long.
  await evictDurableObject(idle.stub)
  happened.push('idle one evicted')
  await inObject(session, () => late.resolve())
  await evicted
  expect(await session.ended()).toBe('completed')
  expect(happened).toEqual(['model', 'idle one evicted', 'evicted'])
})
