import { defineAgent } from '@helix-agents/core'
import { WorkspaceRegistry } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import type { Contender } from './measure.ts'

/** The registry of a session with twenty open workspaces, asked for its state. */
export async function describeTwenty(): Promise<Contender> {
  const names = Array.from({ length: 20 }, (_, index) => `box-${index}`)
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const { workspaces } = defineAgent({
    name: 'bench',
    llmConfig: { model: 'none' },
    workspaces: Object.fromEntries(names.map((name) => [name, box])),
  })
  const registry = new WorkspaceRegistry(workspaces, {
    providers: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
    session: { sessionId: 'bench', agentType: 'bench' },
    persistRef: async () => {},
  })
  for (const name of names) await registry.acquire(name)
  return {
    name: 'describe()',
    run: (times) => {
      for (let i = 0; i < times; i++) registry.describe()
    },
  }
}
