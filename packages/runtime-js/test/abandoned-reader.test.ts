// Who waits for a run of another process reads its stream: no reader outlives the waiting.
import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, gate, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const LEASE_MS = 1_000

test('waiting for a run that was abandoned ends when its reader has ended', async () => {
  const clock = new ManualClock()
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const hold = gate()
  const events: string[] = []
  streams.read = async (_id, options) => ({
    async *[Symbol.asyncIterator]() {
      events.push('reads')
      await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve))
      events.push('is to end')
      await hold.opened
      events.push('has ended')
      yield* []
    },
  })
  const now = clock.now()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now })
  await store.beginRun({ sessionId: 's', runId: 'dead', leaseMs: LEASE_MS, now })
  const { executor } = createHarness([], { store, streams, clock })
  const handle = await executor.getHandle(agent, 's')
  const result = handle!.result().catch((error: { code: string }) => {
    events.push(error.code)
  })
  await settle()
  await clock.advance(LEASE_MS)
  await settle()
  expect(events).toEqual(['reads', 'is to end'])
  hold.open()
  await settle()
  await clock.advance(LEASE_MS)
  await result
  expect(events).toEqual(['reads', 'is to end', 'has ended', 'already-running'])
})

test('a reader that stops leaves no timer behind', async () => {
  const clock = new ManualClock()
  const store = new InMemoryStateStore()
  const now = clock.now()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now })
  const harness = createHarness([say('done')], { store, clock })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const handle = await harness.next([]).executor.getHandle(agent, 's')
  const before = clock.pendingTimers
  for await (const { type } of handle!.stream()) if (type === 'output') break
  expect(clock.pendingTimers).toBe(before)
})
