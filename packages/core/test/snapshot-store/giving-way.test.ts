// What is done for each of many entries gives way to other work after each of them.
import { expect, test } from 'vitest'
import { filesBelow } from '../../src/modules/fs/path/subtree.ts'
import { checkTree } from '../../src/snapshot-store/check-tree.ts'
import { compareEntries } from '../../src/snapshot-store/compare-entries.ts'
import { digestEntries } from '../../src/snapshot-store/digest.ts'
import { EncodedRuns, joinParts } from '../../src/snapshot-store/encoded-runs.ts'
import { assertFileSizes } from '../../src/snapshot-store/file-sizes.ts'
import type { SnapshotEntry, SnapshotHeader } from '../../src/snapshot-store/manifest.ts'
import { encodeManifest, parseManifest } from '../../src/snapshot-store/parse-manifest.ts'
import { blockLengths } from '../../src/snapshot-store/read-blocks.ts'
import { restoreSnapshot } from '../../src/snapshot-store/restore-snapshot.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'
import { givingWay } from '../time/giving-way.ts'
import { MapStore } from './map-store.ts'

const directories = Array.from({ length: 3 }, (_, n): SnapshotEntry => {
  return { path: `/d${n}`, type: 'directory' }
})
const file: SnapshotEntry = {
  path: '/f',
  type: 'file',
  size: 1024 ** 2 + 1,
  blocks: ['0'.repeat(64), '1'.repeat(64)],
}
const entries = [...directories, file]

const pausesOf = async (work: () => Promise<unknown>): Promise<number> =>
  (await givingWay(work)).pauses

const headerOf = async (held: readonly SnapshotEntry[]): Promise<SnapshotHeader> => ({
  formatVersion: 1,
  snapshotId: 'snapshot-0123456789',
  createdAt: 1,
  sessionId: 's',
  agentType: 'a',
  workspace: 'w',
  providerId: 'p',
  workspaceId: 'i',
  entries: held.length,
  bytes: held.includes(file) ? 1024 ** 2 + 1 : 0,
  digest: await digestEntries(held),
})

test('entries are compared, checked and measured', async () => {
  expect(await pausesOf(() => compareEntries(entries, directories))).toBe(4)
  expect(await pausesOf(() => checkTree(entries))).toBe(4)
  expect(await pausesOf(() => assertFileSizes(entries, { maxFileSizeMb: 2 }))).toBe(4)
  expect(await pausesOf(() => blockLengths(entries))).toBe(2)
})

test('entries are encoded run by run, and parsed line by line', async () => {
  const runs = () => new EncodedRuns(({ path }) => path).partsOf(entries)
  expect(await pausesOf(runs)).toBe(1)
  const parts = [new Uint8Array(1), new Uint8Array(2)]
  expect(await pausesOf(() => joinParts(parts))).toBe(2)
  const bytes = await encodeManifest({ header: await headerOf(entries), entries })
  // Lines, the check of the tree, and the two steps of the digest.
  expect(await pausesOf(() => parseManifest(bytes))).toBe(4 + 4 + 2)
})

test('directories are made one after the other', async () => {
  const manifest = { header: await headerOf(directories), entries: directories }
  const pauses = await pausesOf(() =>
    restoreSnapshot(manifest, new MapStore(), new MapFileSystem(), { scope: 's' }),
  )
  // The check of the tree, the two steps of the digest, and each entry.
  expect(pauses).toBe(3 + 2 + 3)
})

test('a tree is listed directory by directory', async () => {
  const fs = new MapFileSystem()
  await fs.writeFile('/a/b/c', '')
  const { result, pauses } = await givingWay(async () => {
    const paths: string[] = []
    for await (const { path } of filesBelow(fs, '/a')) paths.push(path)
    return paths
  })
  expect([result, pauses]).toEqual([['/a', '/a/b', '/a/b/c'], 2])
})
