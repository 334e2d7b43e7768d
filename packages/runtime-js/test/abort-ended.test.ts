// An abort of a session that does not run changes only one that could go on.
import { defineAgent } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, gate, say, settle } from './harness.ts'

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

test('one whose next run is starting is aborted with that run', async () => {
  const store = new InMemoryStateStore()
  const harness = createHarness([say('first'), say('second')], { store })
  const first = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await first.result()
  const [reached, hold] = [gate(), gate()]
  const beginRun = store.beginRun.bind(store)
  store.beginRun = async (start) => {
    reached.open()
    await hold.opened
    return beginRun(start)
  }
  const starting = harness.executor.execute(agent, 'y', { sessionId: 's' })
  await reached.opened
  const aborted = first.abort()
  await settle()
  hold.open()
  await aborted
  expect((await (await starting).result()).status).toBe('aborted')
})

test('one whose stream cannot be ended is aborted all the same, and that is logged', async () => {
  const harness = createHarness([say('one step', false)])
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.interrupt()
  expect((await handle.result()).status).toBe('interrupted')
  harness.streams.endRun = () => Promise.reject(new Error('no answer'))
  await handle.abort()
  expect(await harness.store.loadSession('s')).toMatchObject({ status: 'aborted' })
  expect(harness.logger.with('end of stream not written')).toHaveLength(1)
})
