import { beforeEach, expect, test } from 'vitest'
import { FileSystemError } from '../../../src/errors/file-system-error.ts'
import { SnapshotStoreError } from '../../../src/errors/snapshot-store-error.ts'
import {
  takeSnapshot,
  type TakeSnapshotOptions,
} from '../../../src/snapshot-store/take/take-snapshot.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { MapStore } from '../map-store.ts'
import { TreeFileSystem } from '../tree-file-system.ts'

const identity = {
  scope: 's',
  session: { sessionId: 'session', agentType: 'agent' },
  workspace: 'box',
  workspaceId: 'box-1',
  providerId: 'tree',
}

let fs: TreeFileSystem
let store: MapStore
beforeEach(() => {
  fs = new TreeFileSystem()
  store = new MapStore()
})

async function denied(path: string): Promise<never> {
  throw new FileSystemError('permission-denied', path)
}

const take = (options: Partial<TakeSnapshotOptions> = {}) =>
  takeSnapshot(fs, store, { ...identity, ...options })

const pathsOf = async (options?: Partial<TakeSnapshotOptions>) =>
  (await take(options)).manifest.entries.map(({ path }) => path)

test('the header says whose files these are, and what they sum up to', async () => {
  await fs.writeFile('/a', 'one')
  await fs.writeFile('/d/b', 'four')
  const clock = new ManualClock(7)
  const { manifest, storedBlocks, storedBytes } = await take({ clock })
  const { digest, snapshotId, ...header } = manifest.header
  expect(header).toEqual({
    formatVersion: 1,
    createdAt: 7,
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    providerId: 'tree',
    workspaceId: 'box-1',
    entries: 3,
    bytes: 7,
  })
  expect([digest.length, snapshotId.length]).toEqual([64, 36])
  expect([storedBlocks, storedBytes]).toEqual([2, 7])
  expect(store.manifests.get(snapshotId)).toEqual(manifest)
})

test('a kept snapshot says so, and one with a parent is later than it', async () => {
  const clock = new ManualClock(5)
  const { manifest: parent } = await take({ clock })
  const { header } = (await take({ clock, parent, keep: true })).manifest
  expect([header.parent, header.createdAt, header.kept]).toEqual([
    parent.header.snapshotId,
    6,
    true,
  ])
})

test('entries are sorted, with modes, and links as they are stored', async () => {
  await fs.writeFile('/z', 'z')
  await fs.writeFile('/d/f', '')
  fs.modes.set('/d', 0o40_755)
  fs.add('/d/l', 'symlink')
  fs.links.set('/d/l', '../z')
  const { manifest, losses } = await take()
  expect(manifest.entries).toEqual([
    { path: '/d', type: 'directory', mode: 0o755 },
    { path: '/d/f', type: 'file', size: 0, blocks: [], mode: 0o644, version: 'v2' },
    { path: '/d/l', type: 'symlink', target: '../z' },
    { path: '/z', type: 'file', size: 1, blocks: [expect.any(String)], mode: 0o644, version: 'v1' },
  ])
  expect(losses).toEqual([])
})

test('a provider without modes has none, and a version that is long is left out', async () => {
  fs.attributes = {}
  await fs.writeFile('/a', '')
  await fs.writeFile('/b', '')
  const stat = fs.stat.bind(fs)
  fs.stat = async (path) => {
    const version = 'v'.repeat(path === '/a' ? 1024 : 1025)
    return { ...(await stat(path)), version }
  }
  const [a, b] = (await take()).manifest.entries
  expect(a).toEqual({ path: '/a', type: 'file', size: 0, blocks: [], version: 'v'.repeat(1024) })
  expect(b).toEqual({ path: '/b', type: 'file', size: 0, blocks: [] })
})

test('a link that is not portable is stored by where it leads', async () => {
  const led: readonly (readonly [string, string])[] = [
    ['/a/b/x', '/a/b/y'],
    ['/a/c/x', '/a/y'],
    ['/a/d/x', '/z/y'],
    ['/a/e/x', '/a/e'],
    ['/a/f/x', '/'],
  ]
  for (const [link, real] of led) {
    await fs.writeFile(`${link.slice(0, 4)}/f`, '')
    fs.add(link, 'symlink')
    fs.links.set(link, `/workspace${real}`)
    fs.realPaths.set(link, real)
  }
  const { manifest, losses } = await take()
  const targets = manifest.entries.flatMap((entry) =>
    entry.type === 'symlink' ? [entry.target] : [],
  )
  expect([targets, losses]).toEqual([['y', '../y', '../../z/y', '.', '../..'], []])
})

test('what no snapshot can hold is told, sorted, and the rest is in it', async () => {
  await fs.writeFile('/ok', 'ok')
  await fs.writeFile('/closed', 'x')
  fs.add('/dir', 'directory')
  fs.add('/pipe', 'other')
  fs.add('/out', 'symlink')
  fs.add('/a//b', 'file')
  fs.add('/\ud800', 'directory')
  const [ls, readFile] = [fs.ls.bind(fs), fs.readFile.bind(fs)]
  fs.ls = async (path) => {
    if (path === '/dir') return denied(path)
    const odd = [{ name: 'b', path: '/a//b', type: 'file' as const }]
    return path === '/' ? [...(await ls(path)), ...odd] : ls(path)
  }
  fs.readFile = (path) => (path === '/closed' ? denied(path) : readFile(path))
  const { manifest, losses } = await take()
  expect(manifest.entries.map(({ path }) => path)).toEqual(['/dir', '/ok'])
  expect(losses).toEqual([
    { path: '/a//b', kind: 'path' },
    { path: '/closed', kind: 'unreadable' },
    { path: '/dir', kind: 'unreadable' },
    { path: '/out', kind: 'link' },
    { path: '/pipe', kind: 'special-file' },
    { path: '/\ud800', kind: 'path' },
  ])
})

test('what is ignored is neither entered nor told, whatever it is', async () => {
  await fs.writeFile('/node_modules/x', '')
  await fs.writeFile('/src/a.log', '')
  await fs.writeFile('/src/A.LOG', '')
  fs.add('/pipe.log', 'other')
  const entered: string[] = []
  const ls = fs.ls.bind(fs)
  fs.ls = async (path) => {
    entered.push(path)
    return ls(path)
  }
  const { manifest, losses } = await take({ ignore: ['node_modules/', '*.log'] })
  expect(manifest.entries.map(({ path }) => path)).toEqual(['/src', '/src/A.LOG'])
  expect([losses, entered]).toEqual([[], ['/', '/src']])
})

test('what goes away meanwhile is left out; another failure ends the snapshot', async () => {
  await fs.writeFile('/d/f', '')
  await fs.writeFile('/gone', '')
  const [ls, stat] = [fs.ls.bind(fs), fs.stat.bind(fs)]
  fs.stat = async (path) => {
    if (path === '/gone') throw new FileSystemError('not-found', path)
    return stat(path)
  }
  for (const code of ['not-found', 'not-directory', 'is-directory', 'path-escape'] as const) {
    fs.ls = async (path) => {
      if (path === '/d') throw new FileSystemError(code, path)
      return ls(path)
    }
    expect(await pathsOf()).toEqual(['/d'])
  }
  for (const error of [new FileSystemError('too-large', '/d'), new Error('disk')]) {
    fs.ls = async (path) => (path === '/d' ? Promise.reject(error) : ls(path))
    await expect(take()).rejects.toBe(error)
  }
  fs.ls = ls
  for (const error of [new FileSystemError('too-large', '/d'), new Error('disk')]) {
    fs.stat = async (path) => (path === '/gone' ? Promise.reject(error) : stat(path))
    await expect(take()).rejects.toBe(error)
  }
  expect(store.manifests.size).toBe(4)
})

test('limits of entries and bytes hold exactly, and say what to do', async () => {
  await fs.writeFile('/a', 'ab')
  await fs.writeFile('/b', 'ab')
  const limits = { maxEntries: 2, maxTotalBytes: 4 }
  expect(await pathsOf({ limits })).toEqual(['/a', '/b'])
  const hint = 'Leave out directories that can be made again, such as node_modules/.'
  await expect(take({ limits: { ...limits, maxEntries: 1 } })).rejects.toMatchObject({
    code: 'too-large',
    message: 'the workspace has more than 1 entries',
    hint,
  })
  await expect(take({ limits: { ...limits, maxTotalBytes: 3 } })).rejects.toMatchObject({
    code: 'too-large',
    message: 'the workspace has more than 3 bytes',
    hint,
  })
})

test('files that have their version are not read again, in the same workspace', async () => {
  await fs.writeFile('/same', 'same')
  await fs.writeFile('/new', 'old')
  const { manifest: parent } = await take()
  await fs.writeFile('/new', 'new')
  const reads: string[] = []
  const readFile = fs.readFile.bind(fs)
  fs.readFile = async (path) => {
    reads.push(path)
    return readFile(path)
  }
  const next = await take({ parent })
  expect([reads, next.reusedFiles, next.storedBlocks, next.storedBytes]).toEqual([
    ['/new'],
    1,
    1,
    3,
  ])
  expect(next.manifest.entries.at(-1)).toEqual(parent.entries.at(-1))
  const others = [
    { workspaceId: 'box-2' },
    { providerId: 'other' },
    { parent: { ...parent, entries: parent.entries.map((entry) => ({ ...entry, size: 9 })) } },
  ]
  for (const other of others) {
    reads.length = 0
    const { reusedFiles } = await take({ parent, ...other })
    expect([reads.toSorted(), reusedFiles]).toEqual([['/new', '/same'], 0])
  }
})

test('when the blocks of the parent are gone, every file is read', async () => {
  await fs.writeFile('/f', 'x')
  const { manifest: parent } = await take()
  const put = store.putManifest.bind(store)
  let calls = 0
  store.putManifest = async (scope, manifest) => {
    calls += 1
    if (manifest.header.parent !== undefined) throw new SnapshotStoreError('missing-blocks', 'gone')
    return put(scope, manifest)
  }
  const { manifest, reusedFiles } = await take({ parent })
  expect([calls, reusedFiles, manifest.header.parent]).toEqual([2, 0, undefined])
  const failure = new SnapshotStoreError('storage-full', 'full')
  store.putManifest = () => Promise.reject(failure)
  await expect(take({ parent })).rejects.toBe(failure)
  const gone = new SnapshotStoreError('missing-blocks', 'gone')
  store.putManifest = () => Promise.reject(gone)
  await expect(take()).rejects.toBe(gone)
})

test('directories that change while they are listed are told', async () => {
  fs.ls = async (path) =>
    path === '/' ? [{ name: 'f', path: '/d/f', type: 'file' }] : Promise.reject(new Error(path))
  await fs.writeFile('/d/f', '')
  await expect(take()).rejects.toMatchObject({
    code: 'source-changed',
    message: 'directories changed meanwhile: "/d/f" has no directory above it',
  })
})

test('nothing is stored after an abort', async () => {
  await fs.writeFile('/f', 'x')
  const stop = new AbortController()
  const putBlocks = store.putBlocks.bind(store)
  store.putBlocks = async (scope, blocks) => {
    await putBlocks(scope, blocks)
    stop.abort('enough')
  }
  await expect(take({ signal: stop.signal })).rejects.toBe('enough')
  expect(store.manifests.size).toBe(0)
})

test('contents are read without following links', async () => {
  await fs.writeFile('/f', 'x')
  const inner = new TreeFileSystem()
  await inner.writeFile('/f', 'within')
  fs.withoutLinks = () => inner
  expect((await take()).manifest.header.bytes).toBe('within'.length)
})

test('an abort ends the listing of directories', async () => {
  for (let index = 0; index < 100; index += 1) await fs.writeFile(`/${index}/a`, '')
  const stop = new AbortController()
  const listed: string[] = []
  const ls = fs.ls.bind(fs)
  fs.ls = async (path) => {
    listed.push(path)
    if (path !== '/') stop.abort(new Error('stopped'))
    return ls(path)
  }
  await expect(take({ signal: stop.signal })).rejects.toThrow('stopped')
  expect(listed.length).toBeLessThan(10)
})
