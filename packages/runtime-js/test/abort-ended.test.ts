// An abort of a session that does not run changes only one that could go on.
import { defineAgent } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, say } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

test('one that is completed or aborted stays as it is: nothing is claimed, nothing written', async () => {
  const harness = createHarness([say('done')])
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.result()
  const before = await harness.store.loadSession('s')
  harness.store.beginRun = () => Promise.reject(new Error('claimed'))
  harness.store.endRun = () => Promise.reject(new Error('ended'))
  await handle.abort()
  expect(await harness.store.loadSession('s')).toEqual(before)
  expect(before).toMatchObject({ status: 'completed', output: 'done' })
})

test('one that has never run stays idle', async () => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([], { store })
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  const handle = await executor.getHandle(agent, 's')
  await handle!.abort()
  expect(await store.loadSession('s')).toMatchObject({ status: 'idle' })
})

test('one that is paused ends', async () => {
  const store = new InMemoryStateStore()
  const write = { sessionId: 's', runId: 'r', now: 0 }
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: [{ role: 'user', content: 'x' }] })
  await store.endRun({ ...write, status: 'interrupted' })
  const handle = await createHarness([], { store }).executor.getHandle(agent, 's')
  await handle!.abort()
  expect(await store.loadSession('s')).toMatchObject({ status: 'aborted' })
})
