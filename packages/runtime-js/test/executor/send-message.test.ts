// A message that is sent is stored, or the caller learns that it is not.
import { defineAgent } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createHarness, say } from '../harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

test('a message that cannot be stored is not sent, and starts nothing', async () => {
  class FullStore extends InMemoryStateStore {
    override queueMessage(): Promise<void> {
      return Promise.reject(new Error('the disk is full'))
    }
  }
  const store = new FullStore()
  const { executor } = createHarness([say('one'), say('two')], { store })
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  await expect(executor.send(agent, 's', 'y')).rejects.toThrow('the disk is full')
  expect(await store.loadSession('s')).toMatchObject({ status: 'completed', messageCount: 2 })
})
