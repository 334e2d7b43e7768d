import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'

const model = {}
const llmAdapter = new MockLLMAdapter([
  {
    type: 'tool_calls',
    toolCalls: [
      {
        id: 't1',
        name: 'workspace__notes__write_file',
        arguments: { path: '/poem.txt', content: 'Roses are red.\n' },
      },
    ],
  },
  { type: 'text', content: 'Done.', shouldStop: true },
])

// prettier-ignore
test('the quick start runs as it is printed', async () => {
  const agent = defineAgent({
    name: 'file-writer',
    systemPrompt: 'Write the requested file.',          // optional
    llmConfig: { model },
    workspaces: {
      notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
    },
  });
  const executor = new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), llmAdapter, {
    workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
  });
  const handle = await executor.execute(agent, { message: 'Write a poem to /poem.txt' }, { sessionId: 'demo' });
  const result = await handle.result();                  // { status: 'completed', output, … }

  expect(result).toMatchObject({ status: 'completed', output: 'Done.', stepCount: 2 })
})
