import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createHarness, type Harness, say, storedMessages } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  stateSchema: z.object({ topic: z.string().default('none') }),
})
const LEASE_MS = 1000
const options = { messageId: 'm', create: { userId: 'u', state: { topic: 'tea' } } } as const

test('a message with `create` makes its session, and the same message again changes nothing', async () => {
  const harness = createHarness([say('hi'), say('never')])
  const { handle } = await harness.executor.send(agent, 's', 'hello', options)
  expect(await handle?.result()).toMatchObject({ status: 'completed', output: 'hi' })
  expect(await harness.store.loadSession('s')).toMatchObject({
    userId: 'u',
    customState: { topic: 'tea' },
  })
  const again = await harness.executor.send(agent, 's', 'hello', options)
  expect(again).toEqual({ messageId: 'm' })
  expect(await storedMessages(harness)).toHaveLength(2)
  expect(await harness.store.listRuns('s')).toHaveLength(1)
})

test('a message of a process that died before its run had begun starts the turn', async () => {
  const { harness, clock } = subject()
  await queue(harness)
  const recovery = await harness.executor.recover(agent, 's')
  if (recovery.outcome !== 'resumed') throw new Error(recovery.outcome)
  expect(await recovery.handle.result()).toMatchObject({ status: 'completed', output: 'hi' })
  expect(clock.now()).toBeGreaterThan(0)
})

test('so does one of a process that died between the lease and the first message', async () => {
  const { harness, clock } = subject()
  await queue(harness)
  const run = { sessionId: 's', runId: 'dead', now: clock.now() }
  await harness.store.beginRun({ ...run, leaseMs: LEASE_MS })
  await clock.advance(LEASE_MS)
  const recovery = await harness.executor.recover(agent, 's')
  if (recovery.outcome !== 'resumed') throw new Error(recovery.outcome)
  expect(await recovery.handle.result()).toMatchObject({ status: 'completed', output: 'hi' })
  expect((await storedMessages(harness)).map(({ role }) => role)).toEqual(['user', 'assistant'])
})

function subject() {
  const clock = new ManualClock()
  return { clock, harness: createHarness([say('hi')], { clock }) }
}

/** A session whose first message is stored, and of which no run has begun. */
async function queue({ store }: Harness): Promise<void> {
  const now = 1
  await store.createSession({ sessionId: 's', agentType: 'a', customState: { topic: 'x' }, now })
  const message = { role: 'user', content: 'hello' } as const
  const queued = { messageId: 'm', sessionId: 's', message, createdAt: now }
  await store.queueMessage({ ...queued, delivery: 'followUp' })
}
