import { beforeEach, expect, test } from 'vitest'
import { FileSystemError } from '../../../src/errors/file-system-error.ts'
import { SNAPSHOT_BLOCK_BYTES } from '../../../src/snapshot-store/manifest.ts'
import { takeSnapshot } from '../../../src/snapshot-store/take/take-snapshot.ts'
import { MapStore } from '../map-store.ts'
import { TreeFileSystem } from '../tree-file-system.ts'

let fs: TreeFileSystem
beforeEach(() => {
  fs = new TreeFileSystem()
})

const take = (options: { readonly signal?: AbortSignal } = {}) =>
  takeSnapshot(fs, new MapStore(), {
    scope: 's',
    session: { sessionId: 'session', agentType: 'agent' },
    workspace: 'box',
    workspaceId: 'box-1',
    providerId: 'tree',
    ...options,
  })

test('a file that changes while it is read is read again, three times at most', async () => {
  await fs.writeFile('/f', 'first')
  let changes = 2
  let reads = 0
  const readFile = fs.readFile.bind(fs)
  fs.readFile = async (path) => {
    reads += 1
    const bytes = await readFile(path)
    if (changes-- > 0) await fs.writeFile('/f', `other ${changes}`)
    return bytes
  }
  const { manifest } = await take()
  expect([reads, manifest.header.bytes]).toEqual([3, 'other 0'.length])
  changes = 3
  reads = 0
  await expect(take()).rejects.toMatchObject({
    code: 'source-changed',
    message: '/f changed each time it was read',
    hint: 'Take the snapshot when no command writes to the file.',
  })
  expect(reads).toBe(3)
})

test('a file that grows or is replaced while it is read is read again', async () => {
  await fs.writeFile('/f', 'x')
  const readFile = fs.readFile.bind(fs)
  const firsts = [
    async () => new Uint8Array(2),
    async () => new Uint8Array(0),
    () => Promise.reject(new FileSystemError('is-directory', '/f')),
  ]
  for (const first of firsts) {
    const reads = [first]
    fs.readFile = (path) => reads.pop()?.() ?? readFile(path)
    expect((await take()).manifest.header.bytes).toBe(1)
  }
})

test('what is no file any more is no file of the snapshot', async () => {
  await fs.writeFile('/f', 'x')
  const stat = fs.stat.bind(fs)
  fs.stat = async (path) => ({ ...(await stat(path)), type: path === '/f' ? 'other' : 'directory' })
  await expect(take()).rejects.toMatchObject({ code: 'source-changed' })
})

test('a large file is read as a stream, a block at a time, and let go', async () => {
  await fs.writeFile('/f', new Uint8Array(SNAPSHOT_BLOCK_BYTES + 1))
  let cancelled = 0
  const signals: unknown[] = []
  fs.readStream = async (_path, options) => {
    signals.push(options)
    const parts = [new Uint8Array(SNAPSHOT_BLOCK_BYTES), new Uint8Array(1)]
    return new ReadableStream({
      pull: (controller) => {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(part)
      },
      cancel: () => void (cancelled += 1),
    })
  }
  const { signal } = new AbortController()
  const { manifest } = await take({ signal })
  expect(manifest.entries[0]).toMatchObject({ size: SNAPSHOT_BLOCK_BYTES + 1 })
  expect([signals, cancelled]).toEqual([[{ signal }], 0])
  await fs.writeFile('/f', new Uint8Array(SNAPSHOT_BLOCK_BYTES))
  await take()
  expect(signals).toHaveLength(1)
})

test('a stream that is longer than its file is let go', async () => {
  await fs.writeFile('/f', new Uint8Array(SNAPSHOT_BLOCK_BYTES + 1))
  let cancelled = 0
  fs.readStream = async () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(SNAPSHOT_BLOCK_BYTES)),
      cancel: () => void (cancelled += 1),
    })
  await expect(take()).rejects.toMatchObject({ code: 'source-changed' })
  expect(cancelled).toBe(3)
})
