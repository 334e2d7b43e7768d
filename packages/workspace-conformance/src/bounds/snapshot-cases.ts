import type { SnapshotRef } from '@helix-agents/core/provider'
import { check } from '../assert.ts'
import type { BoundCase } from './bound-case.ts'
import type { BoundScale } from './bound-scale.ts'
import type { BoundSubject, BoundTarget } from './bound-subject.ts'
import { fillDirectory, MEGABYTE_TEXT } from './hostile-files.ts'

/** Trees with many entries, and refs that no snapshot has. */
export const snapshotCases: readonly BoundCase[] = [
  {
    name: 'snapshot/many-entries',
    needs: ['snapshot'],
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({}),
    results: (target) => (fits(target, target.scale.entries) ? ['ok'] : ['provider-failed']),
  },
  ...(['restore', 'branch'] as const).flatMap((tool): BoundCase[] => [
    {
      name: `${tool}/many-entries`,
      needs: ['snapshot', ...(tool === 'branch' ? ['branch'] : [])],
      prepare: takeSnapshot,
      input: (_scale, ref) => ({ ref }),
      results: ['ok'],
    },
    {
      name: `${tool}/a-megabyte-ref`,
      needs: ['snapshot', ...(tool === 'branch' ? ['branch'] : [])],
      input: () => ({ ref: { providerId: 'x', ref: MEGABYTE_TEXT } }),
    },
    {
      name: `${tool}/a-wide-ref`,
      needs: ['snapshot', ...(tool === 'branch' ? ['branch'] : [])],
      input: ({ entries }) => ({
        ref: JSON.stringify({ providerId: 'x', ref: Array.from({ length: entries }, () => [[]]) }),
      }),
    },
  ]),
]

/** With the directory that holds them. */
function fits({ maxSnapshotEntries = Infinity }: BoundTarget, files: number): boolean {
  return files + 1 <= maxSnapshotEntries
}

/** As many entries as the provider says that a snapshot may have. */
async function takeSnapshot(
  { fs, target }: BoundSubject,
  { entries }: BoundScale,
): Promise<SnapshotRef> {
  const { maxSnapshotEntries = Infinity } = target
  await fillDirectory(fs, '/d', fits(target, entries) ? entries : maxSnapshotEntries - 1)
  const taken = await target.workspace.snapshot?.snapshot()
  check(taken !== undefined, 'a workspace with snapshots')
  return taken
}
