import { describe, expect, test } from 'vitest'
import { SnapshotStoreError } from '../../src/errors/snapshot-store-error.ts'
import { blocksOf, pageOf, parseScope } from '../../src/snapshot-store/driver-checks.ts'
import { assertFileSizes } from '../../src/snapshot-store/file-sizes.ts'
import type { SnapshotEntry, SnapshotHeader } from '../../src/snapshot-store/manifest.ts'
import { blockLengths, inBatches, pathsWith } from '../../src/snapshot-store/read-blocks.ts'
import { allManifests, verifySnapshots } from '../../src/snapshot-store/verify-snapshots.ts'
import { MapStore } from './map-store.ts'

const MB = 1024 * 1024

const fileOf = (path: string, size: number, ...blocks: readonly string[]): SnapshotEntry => ({
  path,
  type: 'file',
  size,
  blocks,
})

test('each block has one length; the last one of a file is the rest', async () => {
  const lengths = await blockLengths([
    { path: '/d', type: 'directory' },
    fileOf('/a', 2 * MB + 3, 'x', 'x', 'y'),
    fileOf('/b', MB, 'x'),
  ])
  expect([...lengths]).toEqual([
    ['x', MB],
    ['y', 3],
  ])
  await expect(blockLengths([fileOf('/a', 1, 'x'), fileOf('/b', 2, 'x')])).rejects.toMatchObject({
    code: 'invalid-manifest',
    message: 'a block of /b has two lengths',
  })
})

const sizesOf = (lengths: readonly number[]) =>
  [...inBatches(new Map(lengths.map((length, index) => [`${index}`, length])))].map(
    (batch) => batch.length,
  )

test('a batch has at most 256 blocks and 8 MiB', () => {
  expect(sizesOf(Array.from({ length: 513 }, () => 1))).toEqual([256, 256, 1])
  expect(sizesOf(Array.from({ length: 9 }, () => MB))).toEqual([8, 1])
  expect(sizesOf([MB, 7 * MB, 1])).toEqual([2, 1])
  expect(sizesOf([9 * MB, 9 * MB])).toEqual([1, 1])
  expect(sizesOf([])).toEqual([])
})

test('files are named by the blocks that they need', () => {
  const entries = [fileOf('/a', 1, 'x'), fileOf('/b', 1, 'y', 'x'), fileOf('/c', 1, 'z')]
  expect(pathsWith(entries, new Set('x'))).toEqual(['/a', '/b'])
  expect(pathsWith(entries, new Set())).toEqual([])
  expect([...blocksOf([...entries, { path: '/d', type: 'directory' }])]).toEqual(['x', 'y', 'z'])
})

test('a file may be as large as its policy says', async () => {
  const entries = [fileOf('/a', 1.5 * MB, 'x')]
  await assertFileSizes(entries, { maxFileSizeMb: 1.5 })
  await assertFileSizes(entries, undefined)
  await expect(assertFileSizes(entries, { maxFileSizeMb: 1.4 })).rejects.toMatchObject({
    code: 'too-large',
    message: expect.stringContaining(`${1.5 * MB} bytes; the limit is ${Math.floor(1.4 * MB)}`),
    hint: 'Raise `maxFileSizeMb` of the workspace, or remove the file.',
  })
})

test('a page is what follows a key, in either order, and says when there is more', () => {
  const items = ['a', 'b', 'c', 'd']
  const page = (query: object, newestFirst = false) =>
    pageOf(newestFirst ? items.toReversed() : items, { keyOf: String, newestFirst }, query)
  expect(page({})).toEqual({ items })
  expect(page({ limit: 4 })).toEqual({ items })
  expect(page({ limit: 3 })).toEqual({ items: ['a', 'b', 'c'], next: 'c' })
  expect(page({ limit: 2, after: 'b' })).toEqual({ items: ['c', 'd'] })
  expect(page({ after: 'd' })).toEqual({ items: [] })
  expect(page({ limit: 2, after: 'd' }, true)).toEqual({ items: ['c', 'b'], next: 'b' })
  for (const limit of [0, 1001, 1.5]) {
    expect(() => page({ limit })).toThrow(`a page has 1 to 1000 items, not ${limit}`)
  }
  expect(page({ limit: 1000 })).toEqual({ items })
})

test('a scope has 1 to 512 characters of valid text', () => {
  expect(parseScope('x'.repeat(512))).toHaveLength(512)
  for (const scope of ['', 'x'.repeat(513), '\ud800']) {
    expect(() => parseScope(scope)).toThrow('a scope of snapshots has 1 to 512 characters')
  }
})

function storeOf(...ids: readonly string[]): MapStore {
  const store = new MapStore()
  store.pageLength = 2
  for (const snapshotId of ids) {
    const entries = [fileOf(`/${snapshotId}`, 1, snapshotId), fileOf('/damaged', 1, 'damaged')]
    store.manifests.set(snapshotId, { header: { snapshotId } as SnapshotHeader, entries })
    store.blocks.set(snapshotId, new Uint8Array(1))
  }
  store.blocks.set('damaged', new Uint8Array(1))
  return store
}

describe('verifySnapshots', () => {
  test('reads every page', async () => {
    const store = storeOf('a', 'b', 'c')
    const ids: string[] = []
    for await (const { snapshotId } of allManifests(store, 's')) ids.push(snapshotId)
    expect(ids).toEqual(['a', 'b', 'c'])
    expect(await verifySnapshots(store, 's')).toEqual({ snapshots: 3, damaged: [] })
  })

  test('names files with content that is missing or damaged', async () => {
    const store = storeOf('a', 'b')
    store.blocks.delete('a')
    store.blocks.set('damaged', new Uint8Array(2))
    expect((await verifySnapshots(store, 's')).damaged).toEqual([
      { snapshotId: 'a', missing: ['/a'], corrupt: ['/damaged'] },
      { snapshotId: 'b', missing: [], corrupt: ['/damaged'] },
    ])
  })

  test('a manifest that cannot be read is damaged, one that is gone is not', async () => {
    const store = storeOf('a')
    const fail = (error: Error) => {
      store.getManifest = async () => {
        throw error
      }
      return verifySnapshots(store, 's')
    }
    expect(await fail(new SnapshotStoreError('not-found', 'none'))).toEqual({
      snapshots: 1,
      damaged: [],
    })
    expect((await fail(new SnapshotStoreError('corrupt', 'broken'))).damaged).toEqual([
      { snapshotId: 'a', problem: 'broken', missing: [], corrupt: [] },
    ])
    for (const error of [new SnapshotStoreError('unavailable', 'away'), new Error('other')]) {
      await expect(fail(error)).rejects.toBe(error)
    }
  })

  test('ends with its signal, between snapshots and between batches', async () => {
    const store = storeOf('a', 'b')
    const stop = new AbortController()
    const getBlocks = store.getBlocks.bind(store)
    store.getBlocks = async (scope, hashes) => {
      stop.abort('enough')
      return getBlocks(scope, hashes)
    }
    await expect(verifySnapshots(store, 's', { signal: stop.signal })).rejects.toBe('enough')
    expect(store.reads).toHaveLength(1)
  })
})
