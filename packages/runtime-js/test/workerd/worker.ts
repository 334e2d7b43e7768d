import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

const model = {}
const agent = defineAgent({
  name: 'file-writer',
  systemPrompt: 'Write the requested file.',
  llmConfig: { model },
  workspaces: {
    notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
  },
})

function createAdapter(): MockLLMAdapter {
  const write = { path: '/poem.txt', content: 'Roses are red.\n' }
  return new MockLLMAdapter([
    {
      type: 'tool_calls',
      toolCalls: [{ id: 't1', name: 'workspace__notes__write_file', arguments: write }],
    },
    {
      type: 'tool_calls',
      toolCalls: [
        { id: 't2', name: 'workspace__notes__read_file', arguments: { path: '/poem.txt' } },
      ],
    },
    { type: 'text', content: 'Done.', shouldStop: true },
  ])
}

/** The quick start, inside a request: answers with the result and the chunks of the run. */
async function runQuickStart(): Promise<Response> {
  const executor = new JSAgentExecutor(
    new InMemoryStateStore(),
    new InMemoryStreamManager(),
    createAdapter(),
    { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
  )
  const handle = await executor.execute(
    agent,
    { message: 'Write a poem to /poem.txt' },
    { sessionId: 'demo' },
  )
  const chunks = []
  for await (const chunk of handle.stream()) chunks.push(chunk)
  return Response.json({ result: await handle.result(), chunks })
}

export default {
  fetch: (_request: Request): Promise<Response> => runQuickStart(),
}
