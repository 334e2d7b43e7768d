import { defineAgent } from '@helix-agents/core'
import type { TurnQueuePort, TurnStatus } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createHarness, say } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const sessionId = 's'

test('a turn that begins between two looks at it is read whole, and the one before is not', async () => {
  let answer: () => Promise<TurnStatus>
  const turnQueue: TurnQueuePort = {
    enqueue: async () => ({ sessionId, turnId: 't' }),
    turnStatus: () => answer(),
    cancelTurns: () => Promise.reject(new Error('nobody aborts here')),
  }
  const front = createHarness([], { turnQueue })
  const { executor } = front
  const worker = front.next([say('before'), say('now')]).executor
  await (await worker.execute(agent, 'one', { sessionId })).result()
  const handle = await executor.execute(agent, 'two', { sessionId, mode: 'enqueue' })
  // The first answer is that of a moment before a worker takes it.
  answer = async () => {
    answer = () => Promise.resolve({ state: 'ended' })
    await (await worker.send(agent, sessionId, 'two')).handle?.result()
    return { state: 'queued' }
  }
  let text = ''
  for await (const chunk of handle.stream()) if (chunk.type === 'text_delta') text += chunk.delta
  expect(text).toBe('now')
})

test('the result of a turn whose machine died at its end is that of the worker that takes over', async () => {
  const clock = new ManualClock()
  const turnQueue: TurnQueuePort = {
    enqueue: async () => ({ sessionId, turnId: 't' }),
    turnStatus: async () => ({ state: 'ended' }),
    cancelTurns: () => Promise.reject(new Error('nobody aborts here')),
  }
  const front = createHarness([], { turnQueue, clock, leaseMs: 1 })
  const handle = await front.executor.execute(agent, 'one', { sessionId, mode: 'enqueue' })
  const doomed = front.next([() => new Promise<never>(() => {})], { clock: new ManualClock() })
  await doomed.executor.execute(agent, 'one', { sessionId })
  await clock.advance(1)
  const result = handle.result()
  await clock.advance(1000)
  const worker = front.next([say('taken over')])
  await (await worker.executor.resume(agent, sessionId)).result()
  await clock.advance(1000)
  expect(await result).toMatchObject({ status: 'completed', output: 'taken over' })
})
