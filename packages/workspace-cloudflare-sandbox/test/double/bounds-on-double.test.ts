// What the provider itself does in the process of the agent, over a driver in memory: the work of a
// container is not done here. Clocks stand still between turns, as they do in a Worker.
import { TestSampler } from '@helix-agents/core/testing'
import {
  type BoundRow,
  boundBehaviours,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { afterAll, it } from 'vitest'
import { printFloods } from './hostile-outputs.ts'
import { Bench } from './open-on-double.ts'

/** Behaviours that a sample takes: the other providers run all of them, and the test bed some. */
const SAMPLED = 24
const ids = boundBehaviours.map(({ id }) => id)
const sampler = new TestSampler()
const rows: BoundRow[] = []
afterAll(() => process.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
    extras: ['background', 'stateful-code'],
    whole: sampler.isExhaustive,
    only: sampler.pick('bounds on the double', ids, SAMPLED),
    create: async () => {
      const bench = new Bench({ backupR2Binding: 'BACKUP_BUCKET' })
      printFloods(bench.world)
      const { ws } = await bench.open()
      return {
        provider: bench.provider.providerId,
        workspace: ws,
        capabilities: bench.provider.capabilities,
        host: createNodeWorkHost(process, { stillClock: true }),
        report: (row) => void rows.push(row),
        dispose: () => ws.close(),
      }
    },
  },
)
