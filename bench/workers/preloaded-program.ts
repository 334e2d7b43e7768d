// Loads everything, loses its files, and goes on. Bundled in parts by its test.
import { readdir, rm } from 'node:fs/promises'
import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor, preload } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

const name = 'workspace__box__grep'
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const store = new InMemoryStateStore()
const model = new MockLLMAdapter([
  { type: 'tool_calls', toolCalls: [{ id: 'c', name, arguments: { pattern: 'x+' } }] },
  { type: 'text', content: 'done', shouldStop: true },
])
const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model, {
  workspaceProviders: [new InMemoryWorkspaceProvider()],
})

await preload()
const files = await readdir(import.meta.dirname)
for (const file of files) await rm(`${import.meta.dirname}/${file}`)
const handle = await executor.execute(agent, 'x', { sessionId: 's' })
const { status } = await handle.result()
const { messages } = await store.loadMessages('s')
const isError = messages.some((message) => message.role === 'tool' && message.isError === true)
await executor.deleteSession(agent, 's')
const left = await store.loadSession('s')
process.stdout.write(JSON.stringify({ parts: files.length > 1, status, isError, left }))
