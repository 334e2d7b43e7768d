// What a file and a namespace may hold, to the last byte and file: in Node, over its SQLite.
import { fileSystemConfigSchema, type FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { checkFileSize, checkQuota } from '../../src/tree/quota.ts'
import type { StoreContext } from '../../src/store-context.ts'
import type { WriteTarget } from '../../src/tree/write-target.ts'
import { openBatch } from '../batch-fixture.ts'
import { codeOf } from '../code-of.ts'
import { databaseFaults } from '../crash/audit.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const MEGABYTE = 1024 * 1024
const config = { kind: 'cloudflare-filestore' } as const
const fsOf = (maxFileBytes: number) => ({
  fs: { ...fileSystemConfigSchema.parse({}), maxFileSizeMb: maxFileBytes / MEGABYTE },
})

async function open(
  storage: NodeStorage,
  setup: ProviderSetup = {},
  maxFileBytes = MEGABYTE,
): Promise<FileSystem> {
  const capabilities = fsOf(maxFileBytes)
  const provider = createProvider(storage, setup)
  const { ws } = await provider.open(config, session, openOptions({ capabilities }))
  if (ws.fs === undefined) throw new Error('no files')
  return ws.fs
}

const streamOf = (text: string): ReadableStream<Uint8Array> =>
  new Blob([text]).stream() as ReadableStream<Uint8Array>

const limits = { maxFileBytes: 10, maxBytes: 100, maxFiles: 5, maxWholeReadBytes: 0 }
const context = { limits } as StoreContext
const target = { path: '/f', usedBytes: 90, usedFiles: 4 } as WriteTarget

const sizing = (before: number, after: number) => () =>
  checkFileSize(context, '/f', { before, after })

test('a file has its limit, above which it may stay or shrink', () => {
  for (const [before, after] of [
    [0, 10],
    [11, 11],
    [12, 11],
  ] as const) {
    expect(sizing(before, after)).not.toThrow()
  }
  for (const before of [0, 10]) {
    expect(sizing(before, 11)).toThrow(
      expect.objectContaining({
        code: 'too-large',
        path: '/f',
        message: expect.stringContaining('11 bytes, the limit is 10'),
      }),
    )
  }
})

const full = (detail: string): unknown =>
  expect.objectContaining({
    code: 'storage-full',
    path: '/f',
    message: expect.stringContaining(detail),
  })

test('a namespace has its limits, at which what adds nothing is allowed', () => {
  const check = (bytes: number, files: number) => () =>
    checkQuota(context, target, { bytes, files })
  for (const [bytes, files] of [
    [10, 1],
    [0, 0],
    [-1, -1],
  ] as const) {
    expect(check(bytes, files)).not.toThrow()
  }
  expect(check(11, 0)).toThrow(full('all files together would have 101 bytes, the limit is 100'))
  expect(check(0, 2)).toThrow(full('there would be 6 files and directories, the limit is 5'))
  const over = { ...target, usedBytes: 110, usedFiles: 6 }
  expect(() => checkQuota(context, over, { bytes: 0, files: 0 })).not.toThrow()
})

const MAKES: Readonly<Record<string, (fs: FileSystem, path: string) => Promise<unknown>>> = {
  'a write': (fs, path) => fs.writeFile(path, '1234567890'),
  'an append': (fs, path) => fs.appendFile(path, '1234567890'),
  'a stream': (fs, path) => fs.writeStream(path, streamOf('1234567890')),
  'a copy': (fs, path) => fs.copy('/ten', path, { overwrite: true }),
}

test.each(Object.entries(MAKES))(
  '%s makes a file and its directories, within the limits',
  async (_, make) => {
    const storage = new NodeStorage()
    await (await open(storage)).writeFile('/ten', '1234567890')
    for (const [maxFiles, code] of [
      [3, 'storage-full'],
      [4, undefined],
    ] as const) {
      const fs = await open(storage, { maxFiles, maxBytes: 20 })
      expect(await codeOf(make(fs, '/a/b/f'))).toBe(code)
    }
    const exact = await open(storage, { maxFiles: 4, maxBytes: 20 })
    expect(await codeOf(exact.writeFile('/a/b/f', '0987654321'))).toBeUndefined()
    expect(await codeOf(make(exact, '/g'))).toBe('storage-full')
    const few = await open(storage, { maxFiles: 9, maxBytes: 29 })
    expect(await codeOf(make(few, '/g'))).toBe('storage-full')
    const small = await open(storage, {}, 9)
    expect(await codeOf(make(small, '/g'))).toBe('too-large')
    expect(await codeOf(small.writeFile('/g', '123456789'))).toBeUndefined()
    expect(databaseFaults(storage)).toEqual([])
  },
)

test('a directory is copied within the limits', async () => {
  const storage = new NodeStorage()
  const all = await open(storage)
  await all.writeFile('/d/one', '1234567890')
  await all.writeFile('/d/two', '12345')
  const copies = async (setup: ProviderSetup, maxFileBytes?: number): Promise<unknown> =>
    codeOf((await open(storage, setup, maxFileBytes)).copy('/d', '/x/y'))
  expect(await copies({}, 9)).toBe('too-large')
  expect(await copies({ maxBytes: 29 })).toBe('storage-full')
  expect(await copies({ maxFiles: 6 })).toBe('storage-full')
  expect(await copies({ maxBytes: 30, maxFiles: 7 }, 10)).toBeUndefined()
  expect((await all.ls('/x/y')).length).toBe(2)
})

test('files that are known count as they are: made, changed and at the limit', async () => {
  const storage = new NodeStorage()
  const fs = await open(storage, { maxFiles: 5, maxBytes: 50 })
  for (const name of ['a', 'b', 'c', 'd']) await fs.writeFile(`/${name}`, '12345')
  for (let round = 0; round < 8; round++) {
    await fs.writeFile('/a', round % 2 === 0 ? '1' : '12345')
    await fs.appendFile('/b', '')
    await fs.writeFile('/c', '1234567890')
    await fs.writeFile('/c', '12345')
  }
  await fs.appendFile('/d', '1234567890')
  await fs.writeFile('/e', '12345678901234567890')
  expect(await codeOf(fs.writeFile('/f', ''))).toBe('storage-full')
  expect(await codeOf(fs.writeFile('/f', '1'))).toBe('storage-full')
  expect(await codeOf(fs.writeFile('/a', '123456'))).toBe('storage-full')
  expect(await codeOf(fs.writeFile('/a', '12345'))).toBeUndefined()
  expect(databaseFaults(storage)).toEqual([])
})

test('the batch of a command gathers what fits, and a file up to its limit', async () => {
  const { batch, counts, fs } = await openBatch(new NodeStorage(), { maxFiles: 4, maxBytes: 50 })
  counts.transactions = 0
  await batch.files.writeFile('/a', '1234567890')
  const first = (await batch.files.stat('/a')).version
  await batch.files.writeFile('/b', 'x'.repeat(40))
  expect(counts.transactions).toBe(0)
  await batch.commit()
  expect(counts.transactions).toBe(1)
  await batch.files.appendFile('/a', '')
  expect((await batch.files.stat('/a')).version).not.toBe(first)
  expect(await codeOf(batch.files.appendFile('/a', 'y'))).toBe('storage-full')
  expect(await codeOf(batch.files.writeFile('/c', 'y'))).toBe('storage-full')
  await batch.files.writeFile('/b', 'x')
  for (const name of ['c', 'd']) await batch.files.writeFile(`/${name}`, 'x')
  expect(await codeOf(batch.files.writeFile('/e', 'x'))).toBe('storage-full')
  expect(await codeOf(batch.files.mkdir('/e'))).toBe('storage-full')
  expect(await batch.commit()).toEqual([])
  expect((await fs.ls('/')).length).toBe(4)
})
