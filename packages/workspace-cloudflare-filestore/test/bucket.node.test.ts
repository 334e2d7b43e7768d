// Files in a bucket and what is left of unfinished work, over the SQLite of Node.
import type { FileSystem } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { fits } from '../src/tree/quota.ts'
import type { StoreContext } from '../src/store-context.ts'
import { openBatch } from './batch-fixture.ts'
import { databaseFaults, treeOf } from './crash/audit.ts'
import { MapBucket } from './map-bucket.ts'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const
let storage: NodeStorage
let bucket: MapBucket
let logger: RecordingLogger
let clock: ManualClock
beforeEach(() => {
  storage = new NodeStorage()
  bucket = new MapBucket()
  logger = new RecordingLogger()
  clock = new ManualClock(1000)
})

const providerOf = (more: Parameters<typeof createProvider>[1] = {}) =>
  createProvider(storage, {
    r2: bucket,
    inlineThresholdBytes: 3,
    partBytes: 4,
    collectionGraceMs: 50,
    clock,
    logger,
    ...more,
  })
async function filesOf(provider = providerOf()): Promise<FileSystem> {
  const { ws } = await provider.open(config, session, openOptions())
  if (ws.fs === undefined) throw new Error('no files')
  return ws.fs
}
const textOf = async (fs: FileSystem, path: string): Promise<string> =>
  new TextDecoder().decode(await fs.readFile(path))
const count = (table: string): number => {
  const [row] = storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).toArray()
  return Number(row?.n)
}
function streamOf(...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> {
  const rest = [...pieces]
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = rest.shift()
        if (piece === undefined) controller.close()
        else if (piece instanceof Error) controller.error(piece)
        else controller.enqueue(new TextEncoder().encode(piece))
      },
    },
    { highWaterMark: 0 },
  )
}

describe('an object', () => {
  test('is put once, and looked for before it is used again', async () => {
    const fs = await filesOf()
    await fs.writeFile('/a', 'same')
    expect(bucket.asked).toEqual(['put'])
    await fs.writeFile('/b', 'same')
    expect(bucket.asked).toEqual(['put', 'head'])
    bucket.objects.clear()
    await fs.writeFile('/c', 'same')
    expect(bucket.asked).toEqual(['put', 'head', 'head', 'put'])
    expect([await textOf(fs, '/a'), count('helix_fs_objects')]).toEqual(['same', 1])
  })
  test('that many writers need is put once', async () => {
    const fs = await filesOf()
    await Promise.all(['/a', '/b', '/c'].map((path) => fs.writeFile(path, 'same')))
    expect(bucket.asked.filter((call) => call === 'put')).toEqual(['put'])
    expect(databaseFaults(storage)).toEqual([])
  })
  test('of which the put failed is put again', async () => {
    const fs = await filesOf()
    bucket.failing = 'put'
    await expect(fs.writeFile('/a', 'same')).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the bucket of the file store failed',
      transient: true,
      cause: new Error('the bucket does not put'),
    })
    await fs.writeFile('/a', 'same')
    expect(bucket.asked).toEqual(['put', 'put'])
    expect([await textOf(fs, '/a'), count('helix_fs_unlinked')]).toEqual(['same', 0])
  })
  test('that is gone from the bucket is a content that is missing', async () => {
    const fs = await filesOf()
    await fs.writeFile('/a', 'larger than a part')
    bucket.objects.clear()
    await expect(fs.readFile('/a')).rejects.toMatchObject({ transient: false })
    const reading = await fs.readStream('/a')
    await expect(new Response(reading).text()).rejects.toMatchObject({ transient: false })
    await expect(fs.grep('larger')).rejects.toMatchObject({ transient: false })
  })
  test('that cannot be deleted is deleted a minute later, which is logged', async () => {
    const provider = providerOf()
    const fs = await filesOf(provider)
    await fs.writeFile('/a', 'one object, two objects')
    await fs.rm('/a')
    await clock.advance(50)
    bucket.failing = 'delete'
    const objects = bucket.objects.size
    const nextAt = clock.now() + 60_000
    const failed = { contents: 0, objects: 0, failed: objects, nextAt }
    expect(await provider.collect()).toEqual(failed)
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'file store: deleting objects failed',
        fields: { error: expect.objectContaining({ code: 'provider-failed' }), objects },
      },
    ])
    expect(await provider.collect(nextAt - 1)).toMatchObject({ objects: 0, nextAt })
    expect(await provider.collect(nextAt)).toMatchObject({ objects, nextAt: undefined })
    expect(bucket.objects.size).toBe(0)
  })
})

describe('a stream', () => {
  test.each([true, false])(
    'that fails leaves the old file and nothing else, with a bucket: %s',
    async (hasBucket) => {
      const setup = { inlineThresholdBytes: 3, partBytes: 4, clock }
      const fs = await filesOf(hasBucket ? providerOf() : createProvider(storage, setup))
      await fs.writeFile('/a', 'old')
      const broken = streamOf('some', 'more', 'still', new Error('broken off'))
      await expect(fs.writeStream('/a', broken)).rejects.toThrow('broken off')
      expect(await textOf(fs, '/a')).toBe('old')
      expect([count('helix_fs_unlinked'), count('helix_fs_blocks')]).toEqual([0, 1])
    },
  )
  test('that is not allowed is cancelled before it is read', async () => {
    const fs = await filesOf()
    await fs.mkdir('/d')
    let reason: unknown
    const source = new ReadableStream<Uint8Array>({ cancel: (why) => void (reason = why) })
    await expect(fs.writeStream('/d', source)).rejects.toMatchObject({ code: 'is-directory' })
    expect(reason).toMatchObject({ code: 'is-directory' })
  })
  test('is parts of one size in the bucket', async () => {
    const fs = await filesOf()
    await fs.writeStream('/a', streamOf('1', '2345', '67890', ''))
    const parts = [...bucket.objects.values()].map((bytes) => new TextDecoder().decode(bytes))
    expect(parts).toEqual(['1234', '5678', '90'])
    await fs.writeStream('/b', streamOf('abc'))
    expect([bucket.objects.size, await textOf(fs, '/b')]).toEqual([3, 'abc'])
  })
})

describe('an append', () => {
  test('over the threshold moves the end to the bucket', async () => {
    const fs = await filesOf()
    await fs.writeFile('/a', 'abc')
    expect(bucket.asked).toEqual([])
    await fs.appendFile('/a', 'def')
    expect([...bucket.objects.values()].map((bytes) => bytes.length)).toEqual([4, 2])
    expect(await textOf(fs, '/a')).toBe('abcdef')
    expect(databaseFaults(storage)).toEqual([])
  })
  test('has happened although its end cannot be moved, which is logged', async () => {
    const fs = await filesOf()
    await fs.writeFile('/a', 'abc')
    bucket.failing = 'put'
    await fs.appendFile('/a', 'def')
    expect(await textOf(fs, '/a')).toBe('abcdef')
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'file store: moving a file to the bucket failed',
        fields: {
          error: expect.objectContaining({ code: 'provider-failed' }),
          version: expect.any(Number),
        },
      },
    ])
    expect(count('helix_fs_unlinked')).toBe(0)
    await fs.appendFile('/a', 'g')
    expect([...bucket.objects.values()].map((bytes) => bytes.length)).toEqual([4, 3])
  })
})

/** As a crash leaves it: a tombstone, and files of which no handle knows. */
async function leave(): Promise<void> {
  const fs = await filesOf()
  await fs.writeFile('/d/a', 'abc')
  await fs.writeFile('/d/b', 'larger')
  storage.sql.exec('INSERT INTO helix_fs_removals SELECT id FROM helix_fs_namespaces')
  storage.sql.exec('DELETE FROM helix_fs_namespaces')
}

describe('what an unfinished removal left', () => {
  test.each(['collect', 'deleteNamespaces'] as const)('is removed by %s', async (call) => {
    await leave()
    const provider = providerOf()
    expect(provider.nextCollectionAt()).toBe(0)
    await provider[call]()
    for (const table of ['removals', 'nodes', 'blocks', 'unlinked', 'shares']) {
      expect([table, count(`helix_fs_${table}`)]).toEqual([table, 0])
    }
    await clock.advance(50)
    await provider.collect()
    expect([bucket.objects.size, count('helix_fs_objects')]).toEqual([0, 0])
  })
})

test('removing all namespaces loses every handle', async () => {
  const provider = providerOf()
  const [fs, other] = [await filesOf(provider), await filesOf()]
  await fs.writeFile('/a', 'abc')
  await provider.deleteNamespaces()
  for (const files of [fs, other]) {
    await expect(files.ls('/')).rejects.toMatchObject({ code: 'lost' })
  }
  expect(count('helix_fs_nodes')).toBe(0)
  expect(await treeOf(await filesOf(provider))).toEqual(new Map())
})

test('a write fits up to its limits, and whatever makes a file smaller', () => {
  const limits = { maxFileBytes: 10, maxBytes: 100, maxFiles: 5, maxWholeReadBytes: 0 }
  const fit = (sizes: readonly [number, number], bytes: number, files: number): boolean =>
    fits(
      { limits } as StoreContext,
      { usedBytes: 90, usedFiles: 4 },
      {
        sizes: { before: sizes[0], after: sizes[1] },
        growth: { bytes, files },
      },
    )
  expect(fit([0, 10], 10, 1)).toBe(true)
  expect(fit([0, 11], 1, 0)).toBe(false)
  expect([fit([11, 11], 0, 0), fit([12, 11], -1, 0)]).toEqual([true, true])
  expect([fit([0, 1], 11, 0), fit([0, 1], 0, 2), fit([0, 1], 0, 0)]).toEqual([false, false, true])
})

test('of an object without any there is nothing to remove', async () => {
  await providerOf().deleteNamespaces()
  expect(count('helix_fs_namespaces')).toBe(0)
})

test('of an object without any there is nothing to collect', async () => {
  const nothing = { contents: 0, objects: 0, failed: 0, nextAt: undefined }
  expect(await providerOf().collect()).toEqual(nothing)
  expect(count('helix_fs_removals')).toBe(0)
})

describe('the batch of a command', () => {
  test('holds what was added to a file in its order, before and after it is stored', async () => {
    const { batch, fs } = await openBatch(storage)
    for (const piece of ['one ', '', 'two ', 'three']) await batch.files.appendFile('/a', piece)
    expect(new TextDecoder().decode(await batch.files.readFile('/a'))).toBe('one two three')
    expect(await batch.commit()).toEqual([])
    expect(await textOf(fs, '/a')).toBe('one two three')
  })
  test('is stored when it has 4 MiB, and counts anew after that', async () => {
    const { batch, counts } = await openBatch(storage)
    const piece = new Uint8Array(64 * 1024)
    for (let n = 0; n < 64; n += 1) await batch.files.writeFile(`/${n}`, piece)
    expect(counts.transactions).toBe(2)
    await batch.files.writeFile('/64', piece)
    await batch.files.writeFile('/65', piece)
    expect(counts.transactions).toBe(3)
    for (let n = 0; n < 10; n += 1) await batch.files.writeFile(`/small-${n}`, 'x')
    expect(counts.transactions).toBe(3)
    expect(await batch.commit()).toEqual([])
    expect(counts.transactions).toBe(4)
  })
})
