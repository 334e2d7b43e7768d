// What is remembered of the tables, and which writes it makes one statement: in Node, over its SQLite.
import type { FileSystem, WriteOptions } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { KnownNodes } from '../../src/known/known-nodes.ts'
import type { TreeNode } from '../../src/tree/node.ts'
import { countStatements } from '../counted-storage.ts'
import { databaseFaults } from '../crash/audit.ts'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const nodeOf = (version: number, size = 1): TreeNode => ({
  content: { id: version * 2 ** 20, size, blocks: 1, flags: 4 },
  modifiedMs: 5,
  version,
})
const added = (node: TreeNode, bytes = 1, files = 1) => ({ node, growth: { bytes, files } })

describe('what is known', () => {
  test('is of one version of the tables: another one makes it forgotten', () => {
    const known = new KnownNodes()
    expect([known.version, known.usage(1), known.node(1, '/a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    known.observeVersion(7)
    known.observeUsage(1, { usedBytes: 3, usedFiles: 2 })
    known.observeNode(1, '/a', nodeOf(4))
    known.observeVersion(7)
    expect([known.version, known.usage(1), known.node(1, '/a')]).toEqual([
      7,
      { usedBytes: 3, usedFiles: 2 },
      nodeOf(4),
    ])
    expect([known.usage(2), known.node(2, '/a'), known.node(1, '/b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    known.observeVersion(8)
    expect([known.version, known.usage(1), known.node(1, '/a')]).toEqual([8, undefined, undefined])
  })

  test('gives a version once, also one of a transaction that was rolled back', () => {
    const known = new KnownNodes()
    expect([known.nextVersion(0), known.nextVersion(7)]).toEqual([1, 8])
    known.observeAllocated(9)
    known.observeAllocated(3)
    expect([known.nextVersion(0), known.nextVersion(9), known.nextVersion(12)]).toEqual([
      10, 10, 13,
    ])
    known.observeVersion(20)
    known.forget()
    expect([known.version, known.nextVersion(0)]).toEqual([undefined, 21])
  })

  test('goes on with a change of its own, and counts it', () => {
    const known = new KnownNodes()
    known.observeVersion(7)
    known.observeNode(1, '/a', nodeOf(4))
    known.observeUsage(1, { usedBytes: 3, usedFiles: 2 })
    known.observeChange(1, '/b', added(nodeOf(8, 5), 5))
    expect([known.version, known.usage(1), known.node(1, '/a'), known.node(1, '/b')]).toEqual([
      8,
      { usedBytes: 8, usedFiles: 3 },
      nodeOf(4),
      nodeOf(8, 5),
    ])
    known.observeChange(1, '/b', added(nodeOf(9, 2), -3, 0))
    known.observeChange(1, '/b', added(nodeOf(10, 2), 0, 0))
    known.observeChange(1, '/b', added(nodeOf(11, 2), 0, 1))
    expect([known.version, known.usage(1)]).toEqual([11, { usedBytes: 5, usedFiles: 4 }])
    // Without what was used before, nothing is known after it.
    known.observeChange(2, '/c', added(nodeOf(12)))
    expect([known.version, known.usage(1), known.node(1, '/a'), known.nextVersion(0)]).toEqual([
      undefined,
      undefined,
      undefined,
      13,
    ])
  })

  test('is the last 1,024 nodes of a namespace at least, and twice as many at most', () => {
    const known = new KnownNodes()
    const isKnown = (index: number): boolean => known.node(1, `/${index}`) !== undefined
    for (let index = 0; index < 2048; index += 1) known.observeNode(1, `/${index}`, nodeOf(index))
    expect([isKnown(1024), isKnown(2047), isKnown(0)]).toEqual([true, true, true])
    const again = new KnownNodes()
    for (let index = 0; index < 2049; index += 1) again.observeNode(1, `/${index}`, nodeOf(index))
    const left = (index: number): boolean => again.node(1, `/${index}`) !== undefined
    expect([left(1023), left(1024), left(2048)]).toEqual([false, true, true])
  })
})

async function open(setup: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const counted = countStatements(storage)
  const clock = new ManualClock(1000)
  const provider = createProvider(counted.storage, { clock, ...setup })
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  await fs.mkdir('/d')
  await fs.writeFile('/d/a', 'old')
  await fs.stat('/d')
  /** How many statements it takes, and what comes of it. */
  const took = async (path: string, data: string | Uint8Array, options?: WriteOptions) => {
    counted.statements.length = 0
    const stat = await fs.writeFile(path, data, options).catch((error: { code: string }) => error)
    const isWritten = counted.statements.some((one) => /^(INSERT|UPDATE)/.test(one.trim()))
    return { statements: counted.statements.length, stat, isWritten }
  }
  return { storage, clock, fs, took }
}

const BLOCK = 65_536

describe('one statement is enough', () => {
  test.each<readonly [string, string, string | Uint8Array, WriteOptions | undefined]>([
    ['for another content', '/d/a', 'new', undefined],
    ['for bytes', '/d/a', Uint8Array.of(0, 1), undefined],
    ['for a whole block', '/d/a', 'x'.repeat(BLOCK), undefined],
    ['for a new file', '/d/new', 'x', undefined],
    ['for a new file at the root', '/new', 'x', undefined],
    ['for one that has to be new', '/d/new', 'x', { ifAbsent: true }],
  ])('%s', async (_, path, data, options) => {
    const { took, fs, clock, storage } = await open()
    await clock.advance(5)
    const { statements, stat } = await took(path, data, options)
    expect(statements).toBe(1)
    expect(stat).toMatchObject({ path, type: 'file', size: data.length, mtime: new Date(1005) })
    expect(await fs.stat(path)).toEqual(stat)
    const stored = await fs.readFile(path)
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    expect([stored.length, stored.every((byte, index) => byte === bytes[index])]).toEqual([
      bytes.length,
      true,
    ])
    expect(databaseFaults(storage)).toEqual([])
  })

  test('for the version that it has', async () => {
    const { took, fs } = await open()
    const { version } = await fs.stat('/d/a')
    const first = await took('/d/a', 'new', { ifVersion: version })
    expect(first.statements).toBe(1)
    const second = await took('/d/a', 'newer', { ifVersion: version })
    expect(second.stat).toMatchObject({ code: 'stale-write' })
  })

  test('for one after the other', async () => {
    const { took, fs, storage } = await open()
    const counts: number[] = []
    for (const [path, data] of [
      ['/d/a', 'one'],
      ['/d/b', 'two'],
      ['/d/a', 'three'],
      ['/d/b', 'four'],
      ['/c', 'five'],
    ] as const) {
      counts.push((await took(path, data)).statements)
    }
    expect(counts).toEqual([1, 1, 1, 1, 1])
    expect(await fs.readText?.('/d/b')).toBe('four')
    expect(databaseFaults(storage)).toEqual([])
  })
})

/** Another isolate, which knows nothing. */
async function reopen() {
  const { storage } = await open()
  const counted = countStatements(storage)
  const { ws } = await createProvider(counted.storage).open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions(),
  )
  const took = async (path: string): Promise<number> => {
    counted.statements.length = 0
    await ws.fs?.writeFile(path, 'x')
    return counted.statements.length
  }
  return { took }
}

describe('what a write has found out is known to the next one', () => {
  test('the directory, so that a new file beside it is one statement', async () => {
    const { took } = await reopen()
    expect(await took('/d/a')).toBeGreaterThan(1)
    expect(await took('/d/new')).toBe(1)
    expect(await took('/d/newer')).toBe(1)
  })

  test('how many files there are, so that the last that fits is one statement', async () => {
    const { took } = await open({ maxFiles: 4 })
    const counts: number[] = []
    for (const path of ['/d/b', '/d/c']) counts.push((await took(path, 'x')).statements)
    expect(counts).toEqual([1, 1])
    expect((await took('/d/d', 'x')).stat).toMatchObject({ code: 'storage-full' })
  })
})

describe('more are needed', () => {
  test.each([
    ['for an empty file', '/d/a', ''],
    ['for more than a block', '/d/a', 'x'.repeat(BLOCK + 1)],
    ['below a directory that is not known', '/x/new', 'x'],
  ])('%s', async (_, path, data) => {
    const { took, storage } = await open()
    const { statements, stat } = await took(path, data)
    expect(statements).toBeGreaterThan(1)
    expect(stat).toMatchObject({ path, size: data.length })
    expect(databaseFaults(storage)).toEqual([])
  })

  test.each<readonly [string, WriteOptions, string]>([
    ['/d/a', { ifAbsent: true }, 'already-exists'],
    ['/d/a', { ifVersion: 'other' }, 'stale-write'],
    ['/d/new', { ifVersion: 'other' }, 'stale-write'],
    ['/d', {}, 'is-directory'],
    ['/', {}, 'is-directory'],
    ['/d/a/x', {}, 'not-directory'],
  ])('to refuse %s with %o: %s', async (path, options, code) => {
    const { took, storage } = await open()
    const { isWritten, stat } = await took(path, 'x', options)
    expect([isWritten, stat]).toMatchObject([false, { code }])
    expect(databaseFaults(storage)).toEqual([])
  })

  test('for a content that is shared, read, or in the bucket', async () => {
    const { took, fs, storage } = await open({ r2: new MapBucket(), inlineThresholdBytes: 10 })
    await fs.copy('/d/a', '/d/b')
    await fs.stat('/d/b')
    expect((await took('/d/b', 'mine')).statements).toBeGreaterThan(1)
    expect(await fs.readText?.('/d/a')).toBe('old')
    await fs.stat('/d/a')
    const reading = await fs.readStream('/d/a')
    expect((await took('/d/a', 'new')).statements).toBeGreaterThan(1)
    expect(await new Response(reading).text()).toBe('old')
    await fs.writeFile('/d/large', 'larger than ten')
    await fs.stat('/d/large')
    expect((await took('/d/large', 'small')).statements).toBeGreaterThan(1)
    const faults = databaseFaults(storage).filter((one) => !one.startsWith('garbage_objects'))
    expect(faults).toEqual([])
  })

  test.each<readonly [ProviderSetup, number]>([
    [{ maxBytes: 10 }, 10],
    [{ maxFiles: 2 }, 5],
  ])('to say that it does not fit: %o', async (limits, most) => {
    const { took } = await open(limits)
    const isFull = 'maxFiles' in limits
    const first = await took('/d/a', 'x'.repeat(most))
    expect([first.statements, first.stat]).toMatchObject([1, { size: most }])
    const more = isFull ? await took('/d/b', 'x') : await took('/d/a', 'x'.repeat(most + 1))
    expect([more.isWritten, more.stat]).toMatchObject([false, { code: 'storage-full' }])
    const less = await took('/d/a', 'x')
    expect(less.stat).toMatchObject({ size: 1 })
  })
})

test('a file that another isolate removed is gone, also when a copy has its content', async () => {
  const storage = new NodeStorage()
  const openIn = async (): Promise<FileSystem> => {
    const isolate = countStatements(storage).storage
    const opened = await createProvider(isolate).open(
      { kind: 'cloudflare-filestore' },
      session,
      openOptions(),
    )
    return opened.ws.fs as FileSystem
  }
  const one = await openIn()
  const other = await openIn()
  await one.writeFile('/a', 'text')
  await one.copy('/a', '/b')
  expect(await one.readText?.('/b')).toBe('text')
  await other.rm('/b')
  await expect(one.readText?.('/b')).rejects.toMatchObject({ code: 'not-found' })
  expect(await one.readText?.('/a')).toBe('text')
})
