import { noopLogger, systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import { justBashShell } from '@helix-agents/shell-just-bash'
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
/** The files are those of the provider, which has these measurements of its own. */
const ofCommands = boundBehaviours.filter(({ needs = [] }) => needs.includes('shell'))
const rows: BoundRow[] = []
afterAll(() => process.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, shell: true },
    only: ofCommands.map(({ id }) => id),
    whole: sampler.isExhaustive,
    create: async () => {
      const provider = new InMemoryWorkspaceProvider({ shell: justBashShell() })
      const { ws } = await provider.open({ kind: 'in-memory' }, SESSION, {
        workspace: 'box',
        capabilities: {},
        signal: new AbortController().signal,
        logger: noopLogger,
        clock: systemClock,
      })
      return {
        provider: `${provider.providerId} with shell-just-bash`,
        workspace: ws,
        capabilities: { fs: true, shell: true },
        host: createNodeWorkHost(process),
        report: (row) => void rows.push(row),
        dispose: () => ws.close(),
      }
    },
  },
)
