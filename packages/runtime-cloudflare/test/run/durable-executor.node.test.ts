// What the executor of an object records of a session, so that the next instance goes on with it.
import { askUserTool, defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { question, say } from '../http/node-host.ts'
import { createHost, gated, plain } from '../server/host-fixture.ts'

const asks = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [askUserTool()] })
const record = 'helix:run:s'

/** A session that waits for an answer, and what is recorded of it whenever the store is written to. */
async function waiting() {
  const model = new MockLLMAdapter([question('one'), say('done')])
  const object = createHost({ options: { agents: [asks], llmAdapter: () => model } })
  const { host, values } = object
  await host.ready()
  await object.run(asks)
  const [request] = (await host.executor.listRequests({ sessionId: 's' })).items
  const seen: unknown[] = []
  const note = <Given extends readonly unknown[], Result>(work: (...given: Given) => Result) => {
    return (...given: Given): Result => {
      seen.push(values.get(record))
      return work(...given)
    }
  }
  const { stateStore } = host
  stateStore.resolveRequest = note(stateStore.resolveRequest.bind(stateStore))
  stateStore.queueMessage = note(stateStore.queueMessage.bind(stateStore))
  return { ...object, requestId: request!.requestId, seen }
}

describe('a session that is answered', () => {
  const answer = { decision: 'output', output: 'red' } as const

  test('is recorded before the answer is stored, and resumed', async () => {
    const { host, requestId, seen, values, state, statusOf } = await waiting()
    const { handle } = await host.executor.respond(asks, 's', requestId, answer)
    expect(seen).toEqual([{ sessionId: 's', attempts: 0 }])
    expect(await handle?.result()).toMatchObject({ status: 'completed', output: 'done' })
    await host.watchdog.untilAtRest()
    expect([await statusOf(), values.size, state.alarm]).toEqual(['completed', 0, null])
  })

  test('is not recorded when it is not to be resumed', async () => {
    const { host, requestId, seen, values, state, statusOf } = await waiting()
    await host.executor.respond(asks, 's', requestId, { ...answer, resume: false })
    expect(seen).toEqual([undefined])
    expect([await statusOf(), values.size, state.alarm]).toEqual(['waiting', 0, null])
  })

  test('leaves no record when the answer is none', async () => {
    const { host, values, state } = await waiting()
    await expect(host.executor.respond(asks, 's', 'none', answer)).rejects.toMatchObject({
      code: 'unknown-request',
    })
    expect([values.size, state.alarm]).toEqual([0, null])
  })
})

describe('a session that a message is queued for', () => {
  test('is recorded before the message is stored', async () => {
    const { host, seen, values, state } = await waiting()
    const sent = await host.executor.send(asks, 's', 'psst', { delivery: 'steer', messageId: 'm' })
    expect(sent).toMatchObject({ messageId: 'm' })
    expect(seen).toEqual([{ sessionId: 's', attempts: 0 }])
    expect([values.size, state.alarm]).toEqual([0, null])
  })
})

test('a run that is resumed after an eviction has the record of its attempt, the next run a new one', async () => {
  const first = createHost({ steps: [gated().answer] })
  await first.host.ready()
  await first.host.executor.execute(plain, 'Go', { sessionId: 's' })
  const { answer, open } = gated()
  const { host, values } = createHost({ of: first.of, steps: [answer, answer] })
  await host.ready()
  expect(values.get(record)).toMatchObject({ attempts: 1, progress: expect.any(String) })
  open()
  await host.watchdog.untilAtRest()
  const handle = await host.executor.execute(plain, 'More', { sessionId: 's' })
  expect(values.get(record)).toEqual({ sessionId: 's', attempts: 0 })
  await handle.result()
  await host.watchdog.untilAtRest()
})
