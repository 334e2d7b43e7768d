import { randomBytes } from 'node:crypto'
import {
  compareEntries,
  restoreSnapshot,
  SNAPSHOT_BLOCK_BYTES,
  takeSnapshot,
  type TakeSnapshotOptions,
  verifySnapshots,
} from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { InMemorySnapshotStore } from '../src/index.ts'

const options: TakeSnapshotOptions = {
  scope: 's',
  session: { sessionId: 's', agentType: 'a' },
  workspace: 'w',
  workspaceId: 'i',
  providerId: 'in-memory',
}

async function files(): Promise<InMemoryFileSystem> {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a.txt', 'text')
  await fs.writeFile('/deep/er/empty', '')
  await fs.writeFile('/deep!', 'sorts before what is in deep')
  await fs.writeFile('/large', randomBytes(3 * SNAPSHOT_BLOCK_BYTES + 5))
  await fs.mkdir('/none')
  return fs
}

test('what is taken is restored, byte for byte', async () => {
  const source = await files()
  const store = new InMemorySnapshotStore()
  const { manifest, losses } = await takeSnapshot(source, store, options)
  expect(losses).toEqual([])
  const target = new InMemoryFileSystem()
  const receipt = await restoreSnapshot(manifest, store, target, { scope: 's' })
  expect(receipt).toMatchObject({ files: 4, losses: [] })
  const again = await takeSnapshot(target, store, { ...options, workspaceId: 'j' })
  expect(again.manifest.header.digest).toBe(manifest.header.digest)
  expect(again.storedBlocks).toBe(0)
  expect(await verifySnapshots(store, 's')).toEqual({ snapshots: 2, damaged: [] })
})

test('a file that has its version of the parent is not read again', async () => {
  const fs = await files()
  const store = new InMemorySnapshotStore()
  const first = await takeSnapshot(fs, store, options)
  await fs.writeFile('/a.txt', 'changed')
  const second = await takeSnapshot(fs, store, { ...options, parent: first.manifest })
  expect(second).toMatchObject({ reusedFiles: 3, storedBlocks: 1, storedBytes: 7 })
  const changes = await compareEntries(first.manifest.entries, second.manifest.entries)
  expect(changes).toMatchObject([{ path: '/a.txt', change: 'content' }])
})

test('a sweep frees what only deleted snapshots named, after the grace period', async () => {
  const clock = new ManualClock()
  const store = new InMemorySnapshotStore({ clock })
  const fs = await files()
  const { manifest } = await takeSnapshot(fs, store, options)
  await fs.rm('/large')
  const kept = await takeSnapshot(fs, store, options)
  await store.deleteManifest('s', manifest.header.snapshotId)
  expect(await store.sweep('s')).toMatchObject({ deletedBlocks: 0 })
  await clock.advance(60 * 60 * 1000)
  expect(await store.sweep('s')).toMatchObject({ deletedBlocks: 4, keptBlocks: 2 })
  const { header } = kept.manifest
  expect(await verifySnapshots(store, 's')).toEqual({ snapshots: 1, damaged: [] })
  expect((await store.listManifests('s')).items).toEqual([header])
})

test('with the parent gone and its blocks freed, every file is read', async () => {
  const clock = new ManualClock()
  const store = new InMemorySnapshotStore({ clock })
  const fs = await files()
  const { manifest } = await takeSnapshot(fs, store, options)
  await store.deleteManifest('s', manifest.header.snapshotId)
  await store.sweep('s', { graceMs: 0 })
  const again = await takeSnapshot(fs, store, { ...options, parent: manifest })
  expect(again).toMatchObject({ reusedFiles: 0, storedBlocks: 6 })
  expect(again.manifest.header.parent).toBeUndefined()
})

test('ignored paths are left out, in the syntax of .gitignore', async () => {
  const fs = await files()
  await fs.writeFile('/node_modules/x/index.js', 'x')
  const { manifest } = await takeSnapshot(fs, new InMemorySnapshotStore(), {
    ...options,
    ignore: ['node_modules/', '*.txt', '/large', '!/deep!'],
  })
  expect(manifest.entries.map(({ path }) => path)).toEqual([
    '/deep',
    '/deep!',
    '/deep/er',
    '/deep/er/empty',
    '/none',
  ])
})

test('bytes over the limit are `storage-full`, and no snapshot is there', async () => {
  const store = new InMemorySnapshotStore({ maxBytes: SNAPSHOT_BLOCK_BYTES })
  await expect(takeSnapshot(await files(), store, options)).rejects.toMatchObject({
    code: 'storage-full',
  })
  expect(await store.listManifests('s')).toEqual({ items: [] })
})
