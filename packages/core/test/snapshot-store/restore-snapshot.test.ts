import { beforeEach, expect, test } from 'vitest'
import { SnapshotStoreError } from '../../src/errors/snapshot-store-error.ts'
import { digestEntries, sha256 } from '../../src/snapshot-store/digest.ts'
import {
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotManifest,
} from '../../src/snapshot-store/manifest.ts'
import { restoreSnapshot } from '../../src/snapshot-store/restore-snapshot.ts'
import { MapStore } from './map-store.ts'
import { TreeFileSystem } from './tree-file-system.ts'

let fs: TreeFileSystem
let store: MapStore
beforeEach(() => {
  fs = new TreeFileSystem()
  store = new MapStore()
})

/** Stores the content of a file, unless it is left out. */
async function fileOf(path: string, content: Uint8Array, isStored = true): Promise<SnapshotEntry> {
  const blocks: string[] = []
  for (let at = 0; at < content.length; at += SNAPSHOT_BLOCK_BYTES) {
    const bytes = content.slice(at, at + SNAPSHOT_BLOCK_BYTES)
    const hash = await sha256(bytes)
    if (isStored) store.blocks.set(hash, bytes)
    blocks.push(hash)
  }
  return { path, type: 'file', size: content.length, blocks }
}

async function manifestOf(entries: readonly SnapshotEntry[]): Promise<SnapshotManifest> {
  const sizes = entries.map((entry) => (entry.type === 'file' ? entry.size : 0))
  const header = {
    formatVersion: 1 as const,
    snapshotId: 'snapshot-0123456789',
    createdAt: 1,
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    providerId: 'tree',
    workspaceId: 'box-1',
    entries: entries.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    digest: await digestEntries(entries),
  }
  return { header, entries }
}

const restore = async (
  entries: readonly SnapshotEntry[],
  options: Partial<Parameters<typeof restoreSnapshot>[3]> = {},
) => restoreSnapshot(await manifestOf(entries), store, fs, { scope: 's', ...options })

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const large = (fill: number) => new Uint8Array(SNAPSHOT_BLOCK_BYTES + 1).fill(fill)

test('directories come first, then files, large ones as streams, links, and modes from the leaves up', async () => {
  const a = await fileOf('/d/a', bytesOf('a'))
  const entries: SnapshotEntry[] = [
    { path: '/d', type: 'directory', mode: 0o500 },
    { ...a, mode: 0o600 } as SnapshotEntry,
    await fileOf('/d/b', large(1)),
    { path: '/d/e', type: 'directory' },
    { path: '/d/l', type: 'symlink', target: 'a' },
    await fileOf('/z', new Uint8Array(0)),
  ]
  const done = await restore(entries)
  expect(done).toEqual({ files: 3, bytes: SNAPSHOT_BLOCK_BYTES + 2, losses: [] })
  expect(fs.log).toEqual([
    'mkdir /d',
    'mkdir /d/e',
    'write /z',
    'write /d/a',
    'stream /d/b',
    'write /d/b',
    'link /d/l a',
    'mode /d/a 600',
    'mode /d 500',
  ])
  expect([fs.text('/d/a'), fs.text('/z')]).toEqual(['a', ''])
  // Nothing that came meanwhile is written over; a stream of this double is a write, too.
  expect(fs.absent).toEqual([true, true, true, true])
  expect(Buffer.from(large(1)).equals(fs.files.get('/d/b')!.bytes)).toBe(true)
})

test('what the target has no place for is told, sorted', async () => {
  fs.attributes = {}
  const { losses } = await restore([
    { path: '/d', type: 'directory', mode: 0o500 },
    { ...(await fileOf('/f', bytesOf('f'))), mode: 0o600 } as SnapshotEntry,
    { path: '/l', type: 'symlink', target: 'f' },
  ])
  expect(losses).toEqual([
    { path: '/d', kind: 'mode' },
    { path: '/f', kind: 'mode' },
    { path: '/l', kind: 'link' },
  ])
})

test('a target with files is refused, and so is what its limits do not allow', async () => {
  const file = await fileOf('/a', bytesOf('ab'))
  await expect(restore([file], { limits: { maxEntries: 1, maxTotalBytes: 1 } })).rejects.toThrow(
    'the manifest is not valid: it has more than 1 bytes',
  )
  await fs.writeFile('/there', '')
  await expect(restore([file])).rejects.toMatchObject({
    code: 'target-not-empty',
    message: 'the target of a restore has files',
  })
  expect(store.reads).toEqual([])
})

test('nothing is written when content is missing; the first five files are named', async () => {
  const entries: SnapshotEntry[] = []
  for (let n = 0; n < 6; n += 1) entries.push(await fileOf(`/f${n}`, bytesOf('gone'), n > 6))
  entries.push(await fileOf('/there', bytesOf('there')))
  const hint = 'Restore another snapshot; an operator can verify the store.'
  await expect(restore(entries)).rejects.toMatchObject({
    code: 'missing-blocks',
    message: 'stored content is missing: /f0, /f1, /f2, /f3, /f4 and 1 more',
    hint,
  })
  await expect(restore(entries.slice(1))).rejects.toThrow(
    /^stored content is missing: \/f1, \/f2, \/f3, \/f4, \/f5$/,
  )
  expect(fs.log).toEqual([])
})

test('damaged content is found block by block, and told before what is missing', async () => {
  const entries = [
    await fileOf('/a', bytesOf('good')),
    await fileOf('/b', bytesOf('damaged')),
    await fileOf('/c', bytesOf('short')),
    await fileOf('/d', bytesOf('missing'), false),
  ]
  const [damaged, short] = entries.slice(1).map((entry) => 'blocks' in entry && entry.blocks[0])
  store.blocks.set(short || '', bytesOf('x'))
  const getBlocks = store.getBlocks.bind(store)
  store.getBlocks = async (scope, hashes) => {
    const blocks = await getBlocks(scope, hashes)
    if (hashes.includes(damaged || '')) throw new SnapshotStoreError('corrupt', 'damaged')
    return blocks
  }
  await expect(restore(entries)).rejects.toMatchObject({
    code: 'corrupt',
    message: 'stored content is damaged: /b, /c',
  })
  expect(store.reads.map(({ length }) => length)).toEqual([4, 1, 1, 1, 1])
  const failure = new SnapshotStoreError('unavailable', 'away')
  store.getBlocks = () => Promise.reject(failure)
  await expect(restore(entries)).rejects.toBe(failure)
  let calls = 0
  store.getBlocks = () =>
    Promise.reject((calls += 1) === 1 ? new SnapshotStoreError('corrupt', 'damaged') : failure)
  await expect(restore(entries)).rejects.toBe(failure)
})

test('small blocks are read once, large ones again when they are written', async () => {
  const small = await fileOf('/small', new Uint8Array(64 * 1024).fill(1))
  const big = await fileOf('/big', new Uint8Array(64 * 1024 + 1).fill(2))
  await restore([big, small])
  expect(store.reads.map(({ length }) => length)).toEqual([2, 1])
  expect(store.reads[1]).toEqual('blocks' in big && big.blocks)
})

test('at most 8 MiB of small blocks are kept', async () => {
  const entries: SnapshotEntry[] = []
  for (let n = 0; n < 129; n += 1) {
    entries.push(await fileOf(`/f${100 + n}`, new Uint8Array(64 * 1024).fill(n + 1)))
  }
  await restore(entries)
  expect(store.reads.map(({ length }) => length)).toEqual([128, 1, 1])
})

test('a block that is freed meanwhile ends the restore', async () => {
  const file = await fileOf('/f', new Uint8Array(64 * 1024 + 1))
  const write = store.getBlocks.bind(store)
  store.getBlocks = async (scope, hashes) => {
    const blocks = await write(scope, hashes)
    store.blocks.clear()
    return blocks
  }
  await expect(restore([file])).rejects.toMatchObject({
    code: 'missing-blocks',
    message: 'the snapshot was deleted while it was restored',
  })
})

test('a restore ends with its signal at every step', async () => {
  const entries: SnapshotEntry[] = [
    { path: '/d', type: 'directory', mode: 0o500 },
    await fileOf('/f', bytesOf('f')),
    { path: '/l', type: 'symlink', target: 'f' },
    { path: '/m', type: 'symlink', target: 'f' },
    await fileOf('/s', large(1)),
    { path: '/z', type: 'directory', mode: 0o500 },
  ]
  const lastOf: Record<string, string> = {
    mkdir: 'mkdir /d',
    write: 'write /f',
    stream: 'write /s',
    mode: 'mode /z 500',
  }
  for (const [step, last] of Object.entries(lastOf)) {
    fs = new TreeFileSystem()
    const stop = new AbortController()
    const push = fs.log.push.bind(fs.log)
    fs.log.push = (line) => {
      if (line.startsWith(step)) stop.abort(step)
      return push(line)
    }
    await expect(restore(entries, { signal: stop.signal })).rejects.toBe(step)
    expect(fs.log.at(-1)).toBe(last)
  }
  fs = new TreeFileSystem()
  const stop = new AbortController()
  stop.abort('before')
  store.reads.length = 0
  await expect(restore(entries, { signal: stop.signal })).rejects.toBe('before')
  expect(store.reads).toEqual([])
})

test('the parts of a stream are those that are kept, each in memory of its own', async () => {
  const content = large(3)
  const file = await fileOf('/f', content)
  const parts: Uint8Array[] = []
  fs.writeStream = async (path, source) => {
    for await (const part of source) {
      parts.push(part.slice())
      part.fill(0)
    }
    return fs.writeFile(path, '')
  }
  await restore([file])
  expect(Buffer.concat(parts).equals(content)).toBe(true)
  expect([...store.blocks.values()].map((bytes) => bytes[0])).toEqual([3, 3])
})
