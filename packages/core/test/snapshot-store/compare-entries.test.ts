import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareEntries } from '../../src/snapshot-store/compare-entries.ts'
import type { SnapshotEntry } from '../../src/snapshot-store/manifest.ts'

const kinds = fc.constantFrom<object>(
  { type: 'directory' },
  { type: 'directory', mode: 1 },
  { type: 'symlink', target: 'a' },
  { type: 'symlink', target: 'b' },
  { type: 'file', size: 1, blocks: ['a'] },
  { type: 'file', size: 1, blocks: ['b'] },
  { type: 'file', size: 2, blocks: ['a'] },
  { type: 'file', size: 1, blocks: ['a'], mode: 1 },
  { type: 'file', size: 1, blocks: ['a'], version: 'v' },
)
const trees = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), kinds).map((tree) =>
  Object.entries(tree)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, kind]) => ({ path: `/${name}`, ...kind }) as SnapshotEntry),
)

const contentOf = (entry: SnapshotEntry): string => {
  const { mode: _, version: __, ...content } = entry as unknown as Record<string, unknown>
  return JSON.stringify(content)
}
const modeOf = (entry: SnapshotEntry) => ('mode' in entry ? entry.mode : undefined)

function difference(from: SnapshotEntry | undefined, to: SnapshotEntry | undefined) {
  if (from === undefined) return to && { path: to.path, to, change: 'added' }
  if (to === undefined) return { path: from.path, from, change: 'removed' }
  if (contentOf(from) !== contentOf(to)) return { path: to.path, from, to, change: 'content' }
  return modeOf(from) === modeOf(to) ? undefined : { path: to.path, from, to, change: 'mode' }
}

const findPath = (tree: readonly SnapshotEntry[], path: string) =>
  tree.find((entry) => entry.path === path)

test('names each path whose content or mode differs', async () => {
  await fc.assert(
    fc.asyncProperty(trees, trees, async (from, to) => {
      const paths = [...new Set([...from, ...to].map(({ path }) => path))].toSorted()
      const expected = paths.map((path) => difference(findPath(from, path), findPath(to, path)))
      expect(await compareEntries(from, to)).toEqual(expected.filter(Boolean))
    }),
    { numRuns: 300 },
  )
})
