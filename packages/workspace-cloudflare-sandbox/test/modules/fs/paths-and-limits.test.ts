// What the files of a workspace pass on: to strict files, to searches, and of their errors.
import { FileSystemError, WorkspaceFailedError } from '@helix-agents/core'
import { expect, it } from 'vitest'
import type { DriverFiles } from '../../../src/driver/port.ts'
import type { LiveSandbox } from '../../../src/lifecycle/live-sandbox.ts'
import { CloudflareSandboxFileSystem } from '../../../src/modules/fs/cloudflare-sandbox-file-system.ts'
import { grep } from '../../../src/modules/fs/grep.ts'
import { Bench } from '../../double/open-on-double.ts'
import { callsOf, entryOf } from './file-calls.ts'

const limits = { maxFileBytes: 4, maxWholeReadBytes: 9, maxSearchedFiles: 8 }
const bytes = new Uint8Array(Buffer.from('needle'))
const turn = () => new Promise((resolve) => setImmediate(resolve))

function over(answers: Partial<DriverFiles>) {
  const [calls, strict] = [callsOf(answers), callsOf(answers)]
  const live = { ...calls, withoutLinks: () => strict } as unknown as LiveSandbox
  return { calls, strict, fs: new CloudflareSandboxFileSystem(live, limits) }
}

it('files without links are the same files, with the same limits', async () => {
  const { calls, fs, strict } = over({ read: async () => bytes, write: async () => entryOf('f') })
  await fs.readFile('/f')
  expect([calls.made.length, strict.made.length]).toEqual([1, 0])
  const plain = fs.withoutLinks()
  await plain.readFile('/f')
  await expect(plain.writeFile('/f', 'fives')).rejects.toThrow('the limit is 4')
  expect(calls.made).toHaveLength(1)
  expect(strict.made).toEqual([['read', '/workspace/f', { maxBytes: 9 }]])
})

it('searches get what they are asked for', async () => {
  const { calls, fs } = over({
    list: async () => ['a', 'b'].map((name) => entryOf(name)),
    search: async () => ({ paths: ['.helix/a'], tooLarge: [], complete: true }),
    readMany: async (paths) => paths.map((path) => ({ path, bytes })),
  })
  expect(await fs.glob('*', { path: '/d', limit: 1 })).toEqual(['/d/a'])
  const { matches } = await fs.grep('NEEDLE', { path: '/d', ignoreCase: true })
  expect(matches).toMatchObject([{ path: '/d/.helix/a' }])
  expect(calls.paths).toEqual(['/d', '/d', '/'])
})

it('what is copied into itself, or is missing, is told with why', async () => {
  const missing = new FileSystemError('not-found', '/b')
  const { fs } = over({
    stat: async () => entryOf('', 'directory'),
    copy: () => Promise.reject(missing),
  })
  await expect(fs.copy('/a', '/a/b')).rejects.toThrow('it lies in what it is made from')
  await expect(fs.copy('/a', '/b')).rejects.toMatchObject({ path: '/a', cause: missing })
})

it('a source is given up before its failure is told', async () => {
  const told: string[] = []
  const { fs } = over({ writeStream: () => Promise.reject(new FileSystemError('read-only', '/f')) })
  const source = new ReadableStream<Uint8Array>({
    cancel: async () => {
      await turn()
      told.push('given up')
    },
  })
  const code = await fs.writeStream('/f', source).catch((error: FileSystemError) => error.code)
  expect([...told, code]).toEqual(['given up', 'read-only'])
})

it('what fails for its source is told by that', async () => {
  const torn = new Error('torn')
  const { fs } = over({
    writeStream: async (_, data) => {
      await new Response(data).text().catch(() => undefined)
      throw new FileSystemError('read-only', '/f')
    },
  })
  const source = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(torn) })
  await expect(fs.writeStream('/f', source)).rejects.toBe(torn)
})

it('a root that cannot be made again is told', async () => {
  const denied = new FileSystemError('permission-denied', '/')
  const { fs } = over({
    remove: () => Promise.reject(new WorkspaceFailedError('working-directory-missing', 'x')),
    makeDirectory: async () => {
      await turn()
      throw denied
    },
  })
  await expect(fs.rm('/', { recursive: true })).rejects.toBe(denied)
})

it('a stream that fails with its container does not ask for the root', async () => {
  const away = new WorkspaceFailedError('provider-failed', 'x')
  const { calls, fs } = over({
    writeStream: () => Promise.reject(away),
    stat: async () => entryOf('', 'directory'),
  })
  await expect(fs.writeStream('/f', new Blob(['x']).stream())).rejects.toBe(away)
  expect(calls.made.map(([name]) => name)).toEqual(['writeStream'])
})

it('a directory may go to the place of what holds it, and deeper with limits', async () => {
  const { calls, fs } = over({ move: async () => entryOf('a', 'directory') })
  await fs.move('/a/b', '/a')
  await fs.move('/aaaa', '/b/c')
  expect(calls.made).toEqual([
    ['move', '/workspace/a/b', '/workspace/a', { overwrite: false }],
    [
      'move',
      '/workspace/aaaa',
      '/workspace/b/c',
      { overwrite: false, below: { depth: 254, bytes: 4092 } },
    ],
  ])
})

it('a stream may take longer to be written than a call', async () => {
  const bench = new Bench({}, { callTimeoutMs: 5 })
  const { ws } = await bench.open()
  const written = Promise.withResolvers<void>()
  bench.world.onCall = () => written.promise
  const writing = ws.fs!.writeStream('/f', new Blob(['x']).stream())
  await turn()
  await bench.clock.advance(1_000_000)
  written.resolve()
  expect(await writing).toMatchObject({ path: '/f', size: 1 })
})

it('files are fetched with the signal of their search', async () => {
  const { signal } = new AbortController()
  const calls = callsOf({
    search: async () => ({ paths: ['a'], tooLarge: [], complete: true }),
    // One that was not asked for.
    readMany: async (paths) => [...paths, 'more'].map((path) => ({ path, bytes })),
  })
  const found = await grep(calls, 'needle', { options: { signal }, maxFileBytes: 9, maxFiles: 9 })
  expect(found.matches.map(({ path }) => path)).toEqual(['/a'])
  expect(calls.made[1]).toEqual(['readMany', ['/workspace/a'], { maxBytes: 4_194_304, signal }])
})
