// Files of a provider that answers for many paths in one call.
import { beforeEach, expect, test } from 'vitest'
import type { PathAhead, ReadAheadOptions } from '../../../src/modules/fs/contract.ts'
import {
  takeSnapshot,
  type TakeSnapshotOptions,
} from '../../../src/snapshot-store/take/take-snapshot.ts'
import { MapStore } from '../map-store.ts'
import { TreeFileSystem } from '../tree-file-system.ts'

/** Records what is asked for by itself, and what together. */
class FarFileSystem extends TreeFileSystem {
  readonly asked: string[] = []
  readonly together: string[][] = []
  readonly signals: unknown[] = []
  /** What is said of a path, instead of all there is to say. */
  readonly said = new Map<string, Partial<PathAhead> | undefined>()

  constructor() {
    super()
    this.attributes = {
      readMode: async (path) => {
        this.asked.push(`mode ${path}`)
        return 0o100_600
      },
      readLink: async (path) => this.links.get(path) ?? '',
      readAhead: async (entries, { isKnown, signal }: ReadAheadOptions) => {
        this.together.push(entries.map(({ path }) => path))
        this.signals.push(signal)
        const ahead = new Map<string, PathAhead>()
        for (const { path, type } of entries) {
          if (type === 'symlink') continue
          const stat = await super.stat(path)
          const isRead = type === 'file' && !isKnown(stat)
          const all = { stat, mode: 0o755, ...(isRead && { bytes: await super.readFile(path) }) }
          if (!this.said.has(path)) ahead.set(path, all)
          else if (this.said.get(path) !== undefined) {
            ahead.set(path, { stat, mode: 0o755, ...this.said.get(path) })
          }
        }
        return ahead
      },
    }
  }

  override async stat(path: string) {
    this.asked.push(`stat ${path}`)
    return super.stat(path)
  }

  override async readFile(path: string) {
    this.asked.push(`read ${path}`)
    return super.readFile(path)
  }
}

let fs: FarFileSystem
let store: MapStore
beforeEach(() => {
  fs = new FarFileSystem()
  store = new MapStore()
})

function take(options: Partial<TakeSnapshotOptions> = {}) {
  fs.asked.length = 0
  fs.together.length = 0
  return takeSnapshot(fs, store, {
    scope: 's',
    session: { sessionId: 'session', agentType: 'agent' },
    workspace: 'box',
    workspaceId: 'box-1',
    providerId: 'far',
    ...options,
  })
}

test('many paths take few calls, and none by itself', async () => {
  const names = Array.from({ length: 600 }, (_, index) => `/d/${`${index}`.padStart(3, '0')}`)
  for (const name of names) await fs.writeFile(name, name)
  const { manifest, storedBlocks } = await take()
  expect(manifest.entries.map(({ path }) => path)).toEqual(['/d', ...names])
  expect(manifest.entries[0]).toEqual({ path: '/d', type: 'directory', mode: 0o755 })
  expect(manifest.entries[600]).toMatchObject({ size: 6, mode: 0o755, version: 'v600' })
  expect(storedBlocks).toBe(600)
  expect(fs.asked).toEqual([])
  expect(fs.together.map((paths) => paths.length)).toEqual([512, 89])
})

test('an empty file has no block, and an empty workspace no call', async () => {
  await fs.writeFile('/empty', '')
  const { manifest, storedBlocks } = await take()
  expect(manifest.entries).toMatchObject([{ path: '/empty', size: 0, blocks: [] }])
  expect([storedBlocks, fs.asked]).toEqual([0, []])
  fs.files.clear()
  expect((await take()).manifest.entries).toEqual([])
  expect(fs.together).toEqual([])
})

test('files of the parent are described and not read', async () => {
  for (const name of ['/a', '/b']) await fs.writeFile(name, name)
  const { manifest: parent } = await take()
  await fs.writeFile('/b', 'changed')
  fs.files.set('/a', { ...fs.files.get('/a')!, bytes: new TextEncoder().encode('XX') })
  const { manifest, reusedFiles, storedBlocks } = await take({ parent })
  expect([reusedFiles, storedBlocks, manifest.header.bytes]).toEqual([1, 1, 9])
  expect(manifest.entries[0]).toEqual(parent.entries[0])
  expect(fs.asked).toEqual([])
})

test('a path of which nothing is said is asked for by itself', async () => {
  await fs.writeFile('/d/a', 'a')
  for (const path of ['/d', '/d/a']) fs.said.set(path, undefined)
  expect((await take()).manifest.entries).toMatchObject([{ mode: 0o600 }, { size: 1, mode: 0o600 }])
  expect(fs.asked.toSorted()).toEqual([
    'mode /d',
    'mode /d/a',
    'read /d/a',
    'stat /d/a',
    'stat /d/a',
  ])
})

test('a file whose content is not said, or not whole, is read, and described once more', async () => {
  for (const name of ['/a', '/b']) await fs.writeFile(name, name)
  fs.said.set('/a', {})
  fs.said.set('/b', { bytes: new Uint8Array(1) })
  const { manifest } = await take()
  expect(manifest.entries).toMatchObject([
    { size: 2, mode: 0o755 },
    { size: 2, mode: 0o755 },
  ])
  expect(manifest.header.bytes).toBe(4)
  expect(fs.asked).toEqual(['read /a', 'read /b', 'stat /a', 'stat /b'])
})

test('what was said counts once: a file that has changed since is described anew', async () => {
  await fs.writeFile('/a', 'a')
  fs.said.set('/a', {
    stat: { path: '/a', type: 'file', size: 1, mtime: new Date(0), version: 'other' },
  })
  const { manifest } = await take()
  expect(manifest.entries).toMatchObject([{ version: 'v1', mode: 0o600 }])
  expect(fs.asked).toEqual(['read /a', 'stat /a', 'stat /a', 'read /a', 'stat /a', 'mode /a'])
})

test('a path that is no file any more is left out', async () => {
  await fs.writeFile('/a', 'a')
  fs.said.set('/a', undefined)
  const { attributes } = fs
  fs.attributes = {
    ...attributes,
    readAhead: async (...given) => {
      const ahead = (await attributes.readAhead?.(...given)) ?? new Map<string, PathAhead>()
      fs.files.clear()
      return ahead
    },
  }
  expect((await take()).manifest.entries).toEqual([])
})

test('links are asked for by themselves, and the signal goes along', async () => {
  await fs.writeFile('/a', 'a')
  fs.add('/l', 'symlink')
  fs.links.set('/l', 'a')
  const { signal } = new AbortController()
  const { manifest } = await take({ signal })
  expect(manifest.entries[1]).toEqual({ path: '/l', type: 'symlink', target: 'a' })
  expect(fs.signals).toEqual([signal])
})
