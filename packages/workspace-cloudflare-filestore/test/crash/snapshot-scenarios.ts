import type { FileSystem, Snapshotter, Workspace } from '@helix-agents/core/provider'
import { large, mixedTree, type Scenario, small } from './scenarios.ts'

/** A tree that was changed after a snapshot, so that each has contents of its own. */
async function changedSinceSnapshot(fs: FileSystem, ws: Workspace): Promise<unknown> {
  await mixedTree(fs)
  const taken = await ws.snapshot?.snapshot()
  await fs.writeFile('/d/plain', small('changed'))
  await fs.appendFile('/d/mixed', large('more'))
  await fs.rm('/d/deep', { recursive: true })
  return taken
}

export const snapshotScenarios: readonly Scenario[] = [
  { name: 'take a snapshot', prepare: mixedTree, act: ({ ws }) => snapshotterOf(ws).snapshot() },
  {
    name: 'take a snapshot in the place of an older one',
    maxSnapshots: 1,
    prepare: changedSinceSnapshot,
    act: ({ ws }) => snapshotterOf(ws).snapshot(),
  },
  {
    name: 'restore what was just taken',
    prepare: changedSinceSnapshot,
    act: async ({ ws }) => {
      const snapshotter = snapshotterOf(ws)
      return snapshotter.restore(await snapshotter.snapshot())
    },
  },
  {
    name: 'change files that snapshots share',
    prepare: async (fs, ws) => {
      await mixedTree(fs)
      await ws.snapshot?.snapshot()
    },
    act: ({ fs }) => fs.appendFile('/d/mixed', large('more')),
  },
  {
    name: 'close with snapshots',
    closes: true,
    prepare: changedSinceSnapshot,
    act: ({ ws }) => ws.close(),
  },
]

function snapshotterOf({ snapshot }: Workspace): Snapshotter {
  if (snapshot === undefined) throw new Error('a workspace without snapshots')
  return snapshot
}
