import { noopLogger, systemClock } from '@helix-agents/core'
import {
  type BoundRow,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterAll, it } from 'vitest'

const SESSION = { sessionId: 'bounds', agentType: 'kit' }
const rows: BoundRow[] = []
afterAll(() => process.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true },
    whole: process.env.HELIX_BOUNDS === 'whole',
    deviations: [
      { behaviour: 'bounds/grep/repetitions-in-a-row', reason: 'the program is not bounded' },
      { behaviour: 'bounds/grep/every-line-matches-with-context', reason: 'no bound of matches' },
      { behaviour: 'bounds/grep/a-slow-pattern-hears-an-abort', reason: 'a file is one piece' },
    ],
    create: async () => {
      const provider = new InMemoryWorkspaceProvider()
      const { ws } = await provider.open({ kind: 'in-memory' }, SESSION, {
        workspace: 'box',
        capabilities: {},
        signal: new AbortController().signal,
        logger: noopLogger,
        clock: systemClock,
      })
      return {
        provider: provider.providerId,
        workspace: ws,
        capabilities: provider.capabilities,
        host: createNodeWorkHost(process),
        report: (row) => void rows.push(row),
        dispose: () => ws.close(),
      }
    },
  },
)
