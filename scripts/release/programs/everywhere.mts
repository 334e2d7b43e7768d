// Files, a shell and code in memory: what needs neither processes nor a platform.
import { quickJsCode } from '@helix-agents/code-quickjs'
import {
  defineAgent,
  InMemoryStateStore,
  InMemoryStreamManager,
  InMemoryWorkspaceProvider,
  JSAgentExecutor,
  MockLLMAdapter,
} from '@helix-agents/sdk'
import { justBashShell } from '@helix-agents/shell-just-bash'

const call = (tool: string, input: object) =>
  ({
    type: 'tool_calls',
    toolCalls: [{ id: tool, name: `workspace__box__${tool}`, arguments: input }],
  }) as const
const model = new MockLLMAdapter([
  call('write_file', { path: '/fruit.txt', content: 'pear\napple\n' }),
  call('run', { command: 'sort fruit.txt | head -n 1 > first.txt' }),
  call('run_code', {
    language: 'javascript',
    code: "(await fs.readFile('/first.txt', 'utf8')).trim().toUpperCase()",
  }),
  ({ messages }) => ({ type: 'text', content: String(messages.at(-1)?.content), shouldStop: true }),
])
const agent = defineAgent({
  name: 'everywhere',
  llmConfig: { model: 'scripted' },
  workspaces: {
    box: {
      provider: { kind: 'in-memory' },
      capabilities: { fs: true, shell: true, code: { languages: ['javascript'] } },
    },
  },
})
const provider = new InMemoryWorkspaceProvider({ shell: justBashShell(), code: quickJsCode() })
const stores = [new InMemoryStateStore(), new InMemoryStreamManager()] as const
const executor = new JSAgentExecutor(...stores, model, { workspaceProviders: [provider] })
const result = await (await executor.execute(agent, 'Which is first?')).result()
console.log(result.status === 'completed' ? result.output : JSON.stringify(result))
await executor.shutdown()
