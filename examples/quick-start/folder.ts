import { defineAgent, JSAgentExecutor } from '@helix-agents/sdk'
import { modelFromEnvironment, VercelAIAdapter } from '@helix-agents/sdk/models'
import { LocalBashWorkspaceProvider, openSqliteStores } from '@helix-agents/sdk/node'

const agent = defineAgent({
  name: 'editor',
  systemPrompt: 'You work in a folder. Write files, run commands, say what you did.',
  llmConfig: { model: await modelFromEnvironment(process.env) },
  workspaces: {
    box: { provider: { kind: 'local-bash' }, capabilities: { fs: true, shell: true } },
  },
})
const { stateStore, streamManager } = await openSqliteStores('work/sessions.db')
const executor = new JSAgentExecutor(stateStore, streamManager, new VercelAIAdapter(), {
  workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: 'work' })],
})
const handle = await executor.execute(agent, process.argv[2] ?? 'Find the first ten primes.')
for await (const chunk of handle.stream()) {
  if (chunk.type === 'text_delta') process.stdout.write(chunk.delta)
}
console.log(`\n${(await handle.result()).status}`)
