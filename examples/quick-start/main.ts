import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

// A scripted model, so that the program needs no key.
const llmAdapter = new MockLLMAdapter([
  {
    type: 'tool_calls',
    toolCalls: [
      {
        id: 'call-1',
        name: 'workspace__notes__write_file',
        arguments: { path: '/poem.txt', content: 'Roses are red,\nfiles are bytes.\n' },
      },
    ],
  },
  { type: 'text', content: 'The poem is in /poem.txt.', shouldStop: true },
])

const agent = defineAgent({
  name: 'file-writer',
  systemPrompt: 'Write the requested file.',
  llmConfig: { model: 'scripted' },
  workspaces: {
    notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
  },
})

const executor = new JSAgentExecutor(
  new InMemoryStateStore(),
  new InMemoryStreamManager(),
  llmAdapter,
  { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
)

const handle = await executor.execute(
  agent,
  { message: 'Write a poem to /poem.txt' },
  { sessionId: 'demo' },
)
const result = await handle.result()
console.log(`agent finished: ${result.status}`)
