import { noopLogger, systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import { quickJsCode } from '@helix-agents/code-quickjs'
import {
  boundBehaviours,
  type BoundRow,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterAll, it } from 'vitest'

const SESSION = { sessionId: 'bounds', agentType: 'kit' }
const sampler = new TestSampler()
/** Its threads are for all workspaces. */
const engine = quickJsCode()
const rows: BoundRow[] = []
afterAll(() => process.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, code: true },
    extras: ['stateful-code'],
    only: boundBehaviours.map(({ id }) => id).filter((id) => id.includes('code')),
    whole: sampler.isExhaustive,
    create: async () => {
      const provider = new InMemoryWorkspaceProvider({ code: engine })
      const { ws } = await provider.open({ kind: 'in-memory' }, SESSION, {
        workspace: 'box',
        capabilities: {},
        signal: new AbortController().signal,
        logger: noopLogger,
        clock: systemClock,
      })
      return {
        provider: `${provider.providerId} with code-quickjs`,
        workspace: ws,
        capabilities: { fs: true, code: true },
        host: createNodeWorkHost(process),
        report: (row) => void rows.push(row),
        dispose: () => ws.close(),
      }
    },
  },
)
