import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { AuditedWorkspaceProvider } from './audited-provider.ts'

const provider = new AuditedWorkspaceProvider(
  new InMemoryWorkspaceProvider(),
  ({ sessionId, method, path }) => console.log(`${sessionId}: ${method} ${path}`),
)

const model = new MockLLMAdapter([
  {
    type: 'tool_calls',
    toolCalls: [
      {
        id: '1',
        name: 'workspace__notes__write_file',
        arguments: { path: '/plan.md', content: '# Plan\n' },
      },
      { id: '2', name: 'workspace__notes__read_file', arguments: { path: '/plan.md' } },
      { id: '3', name: 'workspace__notes__mkdir', arguments: { path: '/drafts' } },
      { id: '4', name: 'workspace__notes__rm', arguments: { path: '/plan.md' } },
    ],
  },
  { type: 'text', content: 'Tidied up.', shouldStop: true },
])

const agent = defineAgent({
  name: 'planner',
  llmConfig: { model: 'scripted' },
  workspaces: { notes: { provider: { kind: 'audited' }, capabilities: { fs: true } } },
})

const executor = new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), model, {
  workspaceProviders: new Map([['audited', provider]]),
})
// One run and no next turn: its workspace ends with it.
const options = { sessionId: 'demo', keepWorkspaces: false }
const handle = await executor.execute(agent, 'Make a plan, then tidy up.', options)
console.log((await handle.result()).status)
