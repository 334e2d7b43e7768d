import { noopLogger, systemClock } from '@helix-agents/core'
import { parseWorkspaceRef, type WorkspaceRef } from '@helix-agents/core/provider'
import { defineWorkspaceConformance } from '@helix-agents/workspace-conformance'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { it } from 'vitest'
import { AuditedWorkspaceProvider } from './audited-provider.ts'

defineWorkspaceConformance(
  { it, fails: it.fails },
  {
    capabilities: { fs: true },
    createProvider: async () => {
      const inner = new InMemoryWorkspaceProvider()
      return {
        provider: new AuditedWorkspaceProvider(inner, () => {}),
        config: { kind: 'audited' },
        restart: async () =>
          new AuditedWorkspaceProvider(new InMemoryWorkspaceProvider(), () => {}),
        evict: async (ref) => loseWorkspace(inner, ref),
      }
    },
  },
)

/** Closes it through a second handle, of which the first knows nothing. */
async function loseWorkspace(inner: InMemoryWorkspaceProvider, ref: WorkspaceRef): Promise<void> {
  const { inner: stored } = ref.ref as { readonly inner: string }
  const { ws } = await inner.resolve(parseWorkspaceRef(JSON.parse(stored)), {
    workspace: 'box',
    session: { sessionId: 'other', agentType: 'kit' },
    capabilities: {},
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  await ws.close()
}
