// What each operation asks of the container, and what never gets there.
import { FileSystemError, WorkspaceFailedError } from '@helix-agents/core'
import { describe, expect, it } from 'vitest'
import type { DriverEntry, DriverFiles } from '../../../src/driver/port.ts'
import type { LiveSandbox } from '../../../src/lifecycle/live-sandbox.ts'
import { CloudflareSandboxFileSystem } from '../../../src/modules/fs/cloudflare-sandbox-file-system.ts'
import { callsOf, entryOf } from './file-calls.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const coded = (code: string, path: string) => expect.objectContaining({ code, path })

function over(answers: Partial<DriverFiles>, maxFileBytes = Infinity) {
  const calls = callsOf(answers)
  const limits = { maxFileBytes, maxWholeReadBytes: 9, maxSearchedFiles: 8 }
  const fs = new CloudflareSandboxFileSystem({} as LiveSandbox, limits, calls)
  return { calls, fs }
}
const written = { path: '/f', type: 'file', size: 3, mtime: new Date(1000), version: 'v1' }

describe('a write', () => {
  const answers: Partial<DriverFiles> = {
    write: async () => entryOf('f'),
    append: async () => entryOf('f'),
    writeStream: async (_, data) => {
      await new Response(data).text()
      return entryOf('f')
    },
  }
  it('goes to its path with its conditions, and gives the state', async () => {
    const { calls, fs } = over(answers)
    expect(await fs.writeFile('/d/../f', 'new', { ifAbsent: true })).toEqual(written)
    expect(await fs.appendFile('/f', bytes('new'))).toEqual(written)
    const stream = new Blob(['new']).stream()
    expect(await fs.writeStream('/f', stream, { ifVersion: 'v' })).toEqual(written)
    expect(calls.made).toEqual([
      ['write', '/workspace/f', bytes('new'), { ifAbsent: true }],
      ['append', '/workspace/f', bytes('new'), {}],
      ['writeStream', '/workspace/f', expect.any(ReadableStream), { ifVersion: 'v' }],
    ])
    expect(calls.paths).toEqual(['/f', '/f', '/f'])
  })
  it('is no larger than allowed', async () => {
    const { calls, fs } = over(answers, 4)
    await fs.writeFile('/f', 'häu')
    await fs.appendFile('/f', 'four')
    for (const write of [fs.writeFile('/f', 'häus'), fs.appendFile('/f', bytes('fives'))]) {
      await expect(write).rejects.toThrow('5 bytes; the limit is 4')
    }
    await fs.writeStream('/f', new Blob(['four']).stream())
    const over5 = fs.writeStream('/f', new Blob(['fives']).stream())
    await expect(over5).rejects.toThrow(coded('too-large', '/f'))
    expect(calls.made.map(([name, , , options]) => [name, options])).toEqual([
      ['write', {}],
      ['append', { maxBytes: 4 }],
      ['writeStream', {}],
      ['writeStream', {}],
    ])
  })
  it('never goes to the root', async () => {
    const { calls, fs } = over(answers)
    for (const write of [
      fs.writeFile('/', 'x'),
      fs.appendFile('/', 'x'),
      fs.writeStream('/', new Blob(['x']).stream()),
    ]) {
      await expect(write).rejects.toThrow(coded('is-directory', '/'))
    }
    expect(calls.made).toEqual([])
  })
  it.each([
    ['not-directory', true],
    ['not-found', true],
    ['permission-denied', false],
  ] as const)('of a stream that fails with %s asks for the root: %s', async (code, isAsked) => {
    const refused = new FileSystemError(code, '/f')
    const cancelled: unknown[] = []
    const { calls, fs } = over({
      writeStream: () => Promise.reject(refused),
      stat: async () => entryOf('', 'directory'),
    })
    const source = new ReadableStream<Uint8Array>(
      { cancel: (reason) => void cancelled.push(reason) },
      { highWaterMark: 0 },
    )
    await expect(fs.writeStream('/f', source)).rejects.toBe(refused)
    expect(cancelled).toEqual([refused])
    expect(calls.made.slice(1)).toEqual(isAsked ? [['stat', '/workspace']] : [])
  })
  it('of a stream whose root is no directory says that', async () => {
    const replaced = new WorkspaceFailedError('working-directory-missing', 'x')
    const { fs } = over({
      writeStream: () => Promise.reject(new FileSystemError('not-found', '/f')),
      stat: () => Promise.reject(replaced),
    })
    await expect(fs.writeStream('/f', new Blob(['x']).stream())).rejects.toBe(replaced)
  })
})

describe('reading', () => {
  it('a whole file is bounded, a stream is not', async () => {
    const { calls, fs } = over({
      read: async () => bytes('x'),
      readStream: async () => new Blob(['x']).stream(),
    })
    expect(await fs.readFile('/f')).toEqual(bytes('x'))
    const { signal } = new AbortController()
    const stream = await fs.readStream('/f', { offset: 1, length: 2, signal })
    expect(await new Response(stream).text()).toBe('x')
    expect(calls.made).toEqual([
      ['read', '/workspace/f', { maxBytes: 9 }],
      ['readStream', '/workspace/f', { offset: 1, length: 2, signal }],
    ])
    const aborted = { signal: AbortSignal.abort(new Error('stopped')) }
    await expect(fs.readStream('/f', aborted)).rejects.toThrow('stopped')
    expect(calls.made).toHaveLength(2)
  })
  it('a directory gives its entries, sorted', async () => {
    const listed = [entryOf('b'), entryOf('a', 'directory'), entryOf('c', 'symlink')]
    const { calls, fs } = over({ list: async () => listed })
    expect(await fs.ls('/d')).toEqual([
      { name: 'a', path: '/d/a', type: 'directory' },
      { name: 'b', path: '/d/b', type: 'file', size: 3 },
      { name: 'c', path: '/d/c', type: 'symlink' },
    ])
    expect(calls.made).toEqual([['list', '/workspace/d']])
  })
  it('a state is that of the entry; directories have no size', async () => {
    const { fs } = over({ stat: async (path) => entryOf(path, 'directory') })
    expect(await fs.stat('/d')).toEqual({ ...written, path: '/d', type: 'directory', size: 0 })
  })
  it('a real path is one of the workspace', async () => {
    const { calls, fs } = over({
      realPath: async (path) => (path.endsWith('/out') ? '/elsewhere' : '/workspace/real'),
    })
    expect(await fs.realPath('/l')).toBe('/real')
    expect(await fs.realPath('/l', { followLast: false })).toBe('/real')
    expect(await fs.realPath('/d/out')).toBe('/d/out')
    expect(calls.made.map(([, , options]) => options)).toEqual(
      [true, false, true].map((followLast) => ({ followLast })),
    )
  })
  it('searches have the bounds of the workspace', async () => {
    const { calls, fs } = over({
      list: async () => [],
      search: async () => ({ paths: [], tooLarge: [], complete: true }),
    })
    await fs.glob('*')
    await fs.grep('x')
    expect(calls.made).toMatchObject([
      ['list', '/workspace', { maxEntries: 8 }],
      ['search', '/workspace', { maxFiles: 8, maxFileBytes: 9 }],
    ])
  })
})

describe('directories', () => {
  it('are made and removed as asked', async () => {
    const { calls, fs } = over({ makeDirectory: async () => {}, remove: async () => {} })
    await fs.mkdir('/d')
    await fs.mkdir('/', { recursive: true })
    await fs.rm('/d')
    await fs.rm('/', { recursive: true })
    await expect(fs.mkdir('/')).rejects.toThrow(coded('already-exists', '/'))
    expect(calls.made).toEqual([
      ['makeDirectory', '/workspace/d', { recursive: false }],
      ['makeDirectory', '/workspace', { recursive: true }],
      ['remove', '/workspace/d', { recursive: false }],
      ['remove', '/workspace', { recursive: true }],
    ])
  })
  it.each([
    ['/', true, 'working-directory-missing', true],
    ['/', false, 'working-directory-missing', false],
    ['/d', true, 'working-directory-missing', false],
    ['/', true, 'provider-failed', false],
  ] as const)(
    'when %s is emptied (%s) and that fails with %s the root is made: %s',
    async (path, recursive, code, isMade) => {
      const failure = new WorkspaceFailedError(code, 'x')
      const { calls, fs } = over({
        remove: () => Promise.reject(failure),
        makeDirectory: async () => {},
      })
      const removed = await fs.rm(path, { recursive }).catch((error: unknown) => error)
      expect(removed).toBe(isMade ? undefined : failure)
      expect(calls.made.slice(1)).toEqual(
        isMade ? [['makeDirectory', '/workspace', { recursive: true }]] : [],
      )
    },
  )
})

describe.each(['copy', 'move'] as const)('a %s', (method) => {
  const transfers = (type: DriverEntry['type'] = 'file') =>
    over({
      [method]: async (_from: string, to: string) => entryOf(to),
      stat: async (path: string) => entryOf(path, type),
    })
  it.each([
    ['/a', '/b', {}],
    ['/a/b', '/c', {}],
    ['/a', '/b/c', { below: { depth: 254, bytes: 4092 } }],
    ['/a', '/bé', { below: { depth: 255, bytes: 4092 } }],
    ['/aé/b', '/c/d', {}],
  ])('from %s to %s has limits %j', async (from, to, limits) => {
    const { calls, fs } = transfers()
    await fs[method](from, to)
    await fs[method](from, to, { overwrite: true })
    expect(calls.made).toEqual(
      [false, true].map((overwrite) => [
        method,
        `/workspace${from}`,
        `/workspace${to}`,
        { overwrite, ...limits },
      ]),
    )
    expect(calls.paths).toEqual([to, to])
  })
  it('never replaces the root', async () => {
    const { calls, fs } = transfers()
    await expect(fs[method]('/a', '/')).rejects.toThrow(coded('is-directory', '/'))
    expect(calls.made).toEqual([])
  })
  it.each([
    ['/a/b', 'file', 'not-directory', '/a'],
    ['/a/b', 'directory', 'invalid-path', '/a/b'],
    ['/a', 'directory', 'is-directory', '/a'],
    ['/a', 'file', 'already-exists', '/a'],
  ] as const)('from /a to %s of a %s is %s', async (to, type, code, path) => {
    const { calls, fs } = transfers(type)
    await expect(fs[method]('/a', to)).rejects.toThrow(coded(code, path))
    expect(calls.made).toEqual([['stat', '/workspace/a']])
  })
  it('onto itself changes nothing when it may overwrite', async () => {
    const { calls, fs } = transfers()
    await fs[method]('/a', '/a', { overwrite: true })
    expect(calls.made).toEqual([['stat', '/workspace/a']])
  })
  it('of what is missing names its source; other errors stay as they are', async () => {
    const denied = new FileSystemError('permission-denied', '/b')
    for (const [error, expected] of [
      [new FileSystemError('not-found', '/b'), coded('not-found', '/a')],
      [denied, denied],
    ] as const) {
      const { fs } = over({ [method]: () => Promise.reject(error) })
      await expect(fs[method]('/a', '/b')).rejects.toEqual(expected)
    }
  })
})
