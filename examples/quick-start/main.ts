import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

// A scripted model, so that the program needs no key.
const scripted = new MockLLMAdapter([
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

// MODEL=openai/gpt-5 and OPENAI_API_KEY take a real one; so do other providers, and local servers.
const model = await modelFromEnvironment(process.env).catch((error: Error) => {
  console.error(error.message)
  process.exit(2)
})
console.log(
  model ? `model: ${model.modelId}` : 'model: scripted (MODEL=provider/name takes another)',
)

const agent = defineAgent({
  name: 'file-writer',
  systemPrompt: 'Write the requested file.',
  llmConfig: { model: model ?? 'scripted' },
  workspaces: {
    notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
  },
})

const executor = new JSAgentExecutor(
  new InMemoryStateStore(),
  new InMemoryStreamManager(),
  model ? new VercelAIAdapter() : scripted,
  { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
)

const handle = await executor.execute(
  agent,
  { message: 'Write a poem to /poem.txt' },
  { sessionId: 'demo' },
)
const result = await handle.result()
console.log(`agent finished: ${result.status}`)
if (result.status !== 'completed') {
  console.error(result.error?.message)
  process.exitCode = 1
}
