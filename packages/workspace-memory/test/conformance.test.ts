import { systemClock, noopLogger } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { defineWorkspaceConformance } from '@helix-agents/workspace-conformance'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { it } from 'vitest'

defineWorkspaceConformance(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, snapshot: true, branch: true },
    createProvider: async () => {
      const provider = new InMemoryWorkspaceProvider()
      return {
        provider,
        config: { kind: 'in-memory' },
        restart: async () => new InMemoryWorkspaceProvider(),
        evict: (ref) => closeBehindItsBack(provider, ref),
      }
    },
  },
)

/** Nothing but a close can take files out of memory: one through another handle. */
async function closeBehindItsBack(
  provider: InMemoryWorkspaceProvider,
  ref: WorkspaceRef,
): Promise<void> {
  const { ws } = await provider.resolve(ref, {
    workspace: 'box',
    session: { sessionId: 'other', agentType: 'kit' },
    capabilities: {},
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  await ws.close()
}
