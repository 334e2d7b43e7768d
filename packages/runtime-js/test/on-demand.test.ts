// Between a call and its work a part of the runtime may have to be loaded.
import { defineAgent } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { createHarness, say } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

async function ended() {
  const harness = createHarness([say('one'), say('two'), say('three')])
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const [checkpoint] = (await harness.store.listCheckpoints('s')).items
  return { ...harness, checkpointId: checkpoint!.id }
}

test('no run starts while a restore loads what it needs', async () => {
  const { executor, checkpointId } = await ended()
  const restored = executor.restoreCheckpoint(agent, 's', checkpointId)
  await expect(executor.execute(agent, 'x', { sessionId: 's' })).rejects.toMatchObject({
    code: 'already-running',
  })
  await restored
  const next = await executor.execute(agent, 'x', { sessionId: 's' })
  expect(await next.result()).toMatchObject({ status: 'completed', output: 'two' })
})

test('no run starts while a removal loads what it needs', async () => {
  const { executor, store } = await ended()
  const removed = executor.deleteSession(agent, 's')
  await expect(executor.execute(agent, 'x', { sessionId: 's' })).rejects.toMatchObject({
    code: 'already-running',
  })
  await removed
  expect(await store.loadSession('s')).toBeNull()
})

test('of two removals at once one does the work, and the other is told so', async () => {
  const { executor, store } = await ended()
  const outcomes = await Promise.allSettled([
    executor.deleteSession(agent, 's'),
    executor.deleteSession(agent, 's'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await store.loadSession('s')).toBeNull()
})

test('a session whose restore is refused can be used at once', async () => {
  const { executor } = await ended()
  const files = 5 as unknown as boolean
  await expect(executor.restoreCheckpoint(agent, 's', 'c', { files })).rejects.toThrow(TypeError)
  const next = await executor.execute(agent, 'x', { sessionId: 's' })
  expect(await next.result()).toMatchObject({ status: 'completed' })
})
