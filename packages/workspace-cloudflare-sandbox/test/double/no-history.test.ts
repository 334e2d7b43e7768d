import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { createNodeProvider } from './node-provider.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: 'scripted' },
  workspaces: {
    box: { provider: { kind: 'cloudflare-sandbox' }, capabilities: { fs: true }, history: 'step' },
  },
})

test('a history with the backups of a sandbox is rejected before anything is opened', async () => {
  const store = new InMemoryStateStore()
  const model = new MockLLMAdapter([])
  const workspaceProviders = [createNodeProvider()]
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model, {
    workspaceProviders,
  })
  await expect(executor.execute(agent, 'go', { sessionId: 's' })).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining('backups expire'),
  })
})
