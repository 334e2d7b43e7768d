// Messages that reach a run under way, or the turn after it.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { createGate, say, use, waitTool } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession } from '../session.ts'

const quick = { agent: 'quick', namespace: env.QUICK }

const texts = async (session: TestSession): Promise<readonly unknown[]> =>
  (await session.messages()).flatMap(({ role, content }) => (role === 'user' ? [content] : []))

/** A run that waits in a tool; after that the model says how many users have spoken. */
function held() {
  const gate = createGate()
  const session = createSession({
    brain: (messages) => {
      const last = messages.at(-1)
      const users = messages.filter(({ role }) => role === 'user').length
      return last?.role === 'user' && users === 1 ? use('wait') : say(`heard ${users}`)
    },
    tools: [waitTool(gate)],
  })
  return { gate, session }
}

test('a steering message reaches the run before its next model call, once', async () => {
  const { gate, session } = held()
  await session.post('/start', { message: 'go' })
  await gate.begun
  const steer = { message: 'not that way', delivery: 'steer', messageId: 'm-1' }
  const first = await session.post('/message', steer)
  expect(first).toMatchObject({ status: 202, body: { sessionId: session.id, messageId: 'm-1' } })
  expect((await session.post('/message', steer)).status).toBe(202)
  gate.open()
  expect(await session.ended()).toBe('completed')
  expect(await texts(session)).toEqual(['go', 'not that way'])
  expect((await session.messages()).at(-1)?.content).toBe('heard 2')
})

test('a follow-up starts the next turn, whose run is recorded', async () => {
  const turn = createGate()
  const { gate, session } = (() => {
    const first = createGate()
    const made = createSession(
      {
        brain: (messages) => {
          const last = messages.at(-1)
          if (last?.role !== 'user') return say('done')
          return last.content === 'go' ? use('wait') : use('wait-later')
        },
        tools: [waitTool(first), { ...waitTool(turn), name: 'wait-later' }],
      },
      quick,
    )
    return { gate: first, session: made }
  })()
  await session.post('/start', { message: 'go' })
  await gate.begun
  const later = { message: 'and then this', delivery: 'followUp' }
  expect((await session.post('/message', later)).status).toBe(202)
  gate.open()
  await turn.begun
  // There is none while one rings, which this agent's does every 30 ms.
  await expect.poll(() => inObject(session, ({ storage }) => storage.getAlarm())).not.toBeNull()
  turn.open()
  expect(await session.ended()).toBe('completed')
  expect(await texts(session)).toEqual(['go', 'and then this'])
})

test('a turn that a follow-up has started is resumed when its object was cut off', async () => {
  const turn = createGate()
  const gate = createGate()
  const session = createSession(
    {
      brain: (messages) => {
        const last = messages.at(-1)
        if (last?.role === 'tool') return say('done')
        return last?.content === 'go' ? use('wait') : use('wait-later')
      },
      tools: [waitTool(gate), { ...waitTool(turn), name: 'wait-later' }],
    },
    quick,
  )
  await session.post('/start', { message: 'go' })
  await gate.begun
  await session.post('/message', { message: 'and then this', delivery: 'followUp' })
  gate.open()
  await turn.begun
  await crash()
  turn.open()
  // Nobody asks it to: its alarm does.
  expect(await session.ended()).toBe('completed')
  expect(await texts(session)).toEqual(['go', 'and then this'])
})

test('without a run under way a message with a delivery is one like any other', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const answer = await session.post('/message', { message: 'more', delivery: 'steer' })
  expect(answer).toMatchObject({ status: 202, body: { runId: expect.any(String) } })
  expect(await session.ended()).toBe('completed')
  const wrong = { message: 'more', delivery: 'sometime' }
  expect((await session.post('/message', wrong)).status).toBe(400)
})
