import { SnapshotStoreError } from '@helix-agents/core'
import {
  digestEntries,
  type FileSystem,
  restoreSnapshot,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotManifest,
  takeSnapshot,
  type TakeSnapshotOptions,
} from '@helix-agents/core/provider'
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

async function take(files: Readonly<Record<string, string>>) {
  const fs = new InMemoryFileSystem()
  for (const [path, text] of Object.entries(files)) await fs.writeFile(path, text)
  const store = new InMemorySnapshotStore()
  return { fs, store, ...(await takeSnapshot(fs, store, options)) }
}

async function forge(
  { header }: SnapshotManifest,
  entries: readonly SnapshotEntry[],
): Promise<SnapshotManifest> {
  const bytes = entries.reduce((sum, entry) => sum + (entry.type === 'file' ? entry.size : 0), 0)
  const digest = await digestEntries(entries)
  return { header: { ...header, entries: entries.length, bytes, digest }, entries }
}

/** The code that a restore fails with, and what it left in the target. */
async function outcome(manifest: SnapshotManifest, store: InMemorySnapshotStore) {
  const target = new InMemoryFileSystem()
  const [restored] = await Promise.allSettled([
    restoreSnapshot(manifest, store, target, { scope: 's' }),
  ])
  const reason: unknown = restored.status === 'rejected' ? restored.reason : undefined
  const code = SnapshotStoreError.isInstance(reason) ? reason.code : 'restored'
  return [code, (await target.ls('/')).length]
}

test('a forged manifest touches nothing', async () => {
  const { store, manifest } = await take({ '/a': 'x' })
  const link = { path: '/l', type: 'symlink', target: '/etc/passwd' } as const
  expect(await outcome(await forge(manifest, [link]), store)).toEqual(['invalid-manifest', 0])
  const escape = { path: '/../a', type: 'directory' } as const
  expect(await outcome(await forge(manifest, [escape]), store)).toEqual(['invalid-manifest', 0])
  expect(await outcome({ ...manifest, entries: [] }, store)).toEqual(['invalid-manifest', 0])
})

test('one block cannot stand for two lengths', async () => {
  const { store, manifest } = await take({ '/a': 'x' })
  const [first] = manifest.entries
  const blocks = first?.type === 'file' ? first.blocks : []
  const longer: SnapshotEntry = { path: '/b', type: 'file', size: 2, blocks }
  expect(await outcome(await forge(manifest, [...manifest.entries, longer]), store)).toEqual([
    'invalid-manifest',
    0,
  ])
  expect(await outcome(await forge(manifest, [longer]), store)).toEqual(['corrupt', 0])
})

test('a manifest of another scope finds no blocks, and names files', async () => {
  const { manifest } = await take({ '/a': 'x' })
  expect(await outcome(manifest, new InMemorySnapshotStore())).toEqual(['missing-blocks', 0])
})

test('a small snapshot of a large tree meets the quota of its target, and the limit before it', async () => {
  const { store, manifest } = await take({ '/0': 'z'.repeat(SNAPSHOT_BLOCK_BYTES) })
  const [first] = manifest.entries
  const blocks = first?.type === 'file' ? first.blocks : []
  const size = SNAPSHOT_BLOCK_BYTES
  const names = Array.from({ length: 64 }, (_, index) => `/${String(index).padStart(3, '0')}`)
  const bomb = await forge(
    manifest,
    names.map((path) => ({ path, type: 'file', size, blocks })),
  )
  const target = new InMemoryFileSystem({ maxTotalBytes: 8 * SNAPSHOT_BLOCK_BYTES })
  await expect(restoreSnapshot(bomb, store, target, { scope: 's' })).rejects.toMatchObject({
    code: 'storage-full',
  })
  const limits = { maxEntries: 1000, maxTotalBytes: 8 * SNAPSHOT_BLOCK_BYTES }
  const empty = new InMemoryFileSystem()
  await expect(restoreSnapshot(bomb, store, empty, { scope: 's', limits })).rejects.toMatchObject({
    code: 'invalid-manifest',
  })
  expect(await empty.ls('/')).toEqual([])
})

test('files are restored only where nothing is', async () => {
  const { store, manifest, fs } = await take({ '/a': 'x' })
  await expect(restoreSnapshot(manifest, store, fs, { scope: 's' })).rejects.toMatchObject({
    code: 'target-not-empty',
  })
})

test('a file that changes each time it is read is an error, one that is removed is left out', async () => {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'x')
  await fs.writeFile('/b', 'x')
  let reads = 0
  const busy: FileSystem = Object.assign(Object.create(fs) as FileSystem, {
    ls: (path: string) => fs.ls(path),
    stat: (path: string) => fs.stat(path),
    readFile: async (path: string) => {
      const bytes = await fs.readFile(path)
      reads += 1
      await fs.writeFile('/a', String(reads))
      return bytes
    },
  })
  const store = new InMemorySnapshotStore()
  await expect(takeSnapshot(busy, store, options)).rejects.toMatchObject({
    code: 'source-changed',
    transient: true,
  })
  expect(await store.listManifests('s')).toEqual({ items: [] })
  const removed: FileSystem = Object.assign(Object.create(busy) as FileSystem, {
    readFile: async (path: string) => {
      const bytes = await fs.readFile(path)
      await fs.rm('/b', { recursive: true }).catch(() => undefined)
      return bytes
    },
  })
  const { manifest } = await takeSnapshot(removed, store, options)
  expect(manifest.entries.map(({ path }) => path)).toEqual(['/a'])
})

test('an abort ends taking and restoring with its reason', async () => {
  const { fs, store, manifest } = await take({ '/a': 'x', '/b': 'y' })
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(takeSnapshot(fs, store, { ...options, signal })).rejects.toThrow('enough')
  const target = new InMemoryFileSystem()
  await expect(restoreSnapshot(manifest, store, target, { scope: 's', signal })).rejects.toThrow(
    'enough',
  )
  expect((await store.listManifests('s')).items).toHaveLength(1)
})

test('a workspace over the limits is too large before much of it is read', async () => {
  const { fs } = await take({ '/a': 'xx', '/b': 'yy' })
  const few = { ...options, limits: { maxEntries: 1, maxTotalBytes: 100 } }
  await expect(takeSnapshot(fs, new InMemorySnapshotStore(), few)).rejects.toMatchObject({
    code: 'too-large',
  })
  const small = { ...options, limits: { maxEntries: 100, maxTotalBytes: 3 } }
  await expect(takeSnapshot(fs, new InMemorySnapshotStore(), small)).rejects.toMatchObject({
    code: 'too-large',
  })
})
