// Inside workerd clocks stand still and nothing tells how long a turn was: this runs in Node, over
// its SQLite, with clocks that stand still between turns as they do there.
import { TestSampler } from '@helix-agents/core/testing'
import {
  type BoundRow,
  createNodeWorkHost,
  defineBounds,
  type NodeProcess,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { afterAll, it } from 'vitest'
import { MAX_SNAPSHOT_ENTRIES } from '../src/tree/subtree-work.ts'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

/** This folder has the types of workerd. */
interface Node extends NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string): void }
}
const { process: node } = globalThis as unknown as { readonly process: Node }

const sampler = new TestSampler()
const rows: BoundRow[] = []
afterAll(() => node.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, snapshot: true, branch: true },
    whole: sampler.isExhaustive,
    create: async () => {
      const storage = new NodeStorage()
      const provider = createProvider(storage)
      const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
      return {
        provider: provider.providerId,
        workspace: ws,
        capabilities: { fs: true, snapshot: true, branch: true },
        maxSnapshotEntries: MAX_SNAPSHOT_ENTRIES,
        host: createNodeWorkHost(node, { stillClock: true }),
        report: (row) => void rows.push(row),
        dispose: async () => {
          await ws.close()
          storage.database.close()
        },
      }
    },
  },
)
