import {
  BlockWriter,
  sha256,
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotBlock,
  type SnapshotStore,
} from '@helix-agents/core/provider'
import { expect, test } from 'vitest'

/** The two calls that a writer makes. */
function createStore(): { readonly store: SnapshotStore; readonly puts: SnapshotBlock[][] } {
  const puts: SnapshotBlock[][] = []
  const calls: Pick<SnapshotStore, 'findBlocks' | 'putBlocks'> = {
    findBlocks: async (_, hashes) => {
      const there = new Set(puts.flat().map(({ hash }) => hash))
      return new Set(hashes.filter((hash) => there.has(hash)))
    },
    putBlocks: async (_, blocks) => void puts.push([...blocks]),
  }
  return { store: calls as SnapshotStore, puts }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function* parts(...lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  const reused = new Uint8Array(Math.max(...lengths))
  for (const [index, length] of lengths.entries()) yield reused.fill(index + 1).subarray(0, length)
}

test('each content is stored once, in batches', async () => {
  const { store, puts } = createStore()
  const writer = new BlockWriter(store, 's')
  for (let n = 0; n <= SNAPSHOT_BATCH_BLOCKS; n += 1) {
    expect(await writer.add(bytesOf(`${n}`))).toBe(await sha256(bytesOf(`${n}`)))
    await writer.add(bytesOf('0'))
  }
  expect(puts.map(({ length }) => length)).toEqual([SNAPSHOT_BATCH_BLOCKS])
  await writer.flush()
  expect(puts.map(({ length }) => length)).toEqual([SNAPSHOT_BATCH_BLOCKS, 1])
  const again = new BlockWriter(store, 's')
  await again.add(bytesOf('0'))
  await again.flush()
  expect([puts.length, again.storedBlocks, again.storedBytes]).toEqual([2, 0, 0])
})

test('no batch is larger than a call of the store takes', async () => {
  const { store, puts } = createStore()
  const writer = new BlockWriter(store, 's')
  await writer.write(parts(...Array.from({ length: 20 }, () => SNAPSHOT_BLOCK_BYTES)))
  await writer.flush()
  const sizes = puts.map((batch) => batch.reduce((sum, { bytes }) => sum + bytes.length, 0))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(SNAPSHOT_BATCH_BYTES)
  expect(writer.storedBytes).toBe(20 * SNAPSHOT_BLOCK_BYTES)
})

test('a content is cut into blocks, whatever its parts are, each in memory of its own', async () => {
  const { store, puts } = createStore()
  const writer = new BlockWriter(store, 's')
  const lengths = [3, SNAPSHOT_BLOCK_BYTES - 5, 4, SNAPSHOT_BLOCK_BYTES + 1]
  const { size, blocks } = await writer.write(parts(...lengths))
  await writer.flush()
  expect(size).toBe(2 * SNAPSHOT_BLOCK_BYTES + 3)
  expect(puts.flat().map(({ hash }) => hash)).toEqual(blocks)
  expect(puts.flat().map(({ bytes }) => bytes.length)).toEqual([
    SNAPSHOT_BLOCK_BYTES,
    SNAPSHOT_BLOCK_BYTES,
    3,
  ])
  for (const { hash, bytes } of puts.flat()) expect(await sha256(bytes)).toBe(hash)
})

test('memory that the caller uses again is copied, and hashes may be made elsewhere', async () => {
  const { store, puts } = createStore()
  const hashed: number[] = []
  const hashOf = (bytes: Uint8Array): string => `hash ${hashed.push(bytes.length)}`
  const writer = new BlockWriter(store, 's', { copies: true, hashOf })
  const buffer = bytesOf('first')
  expect(await writer.add(buffer)).toBe('hash 1')
  buffer.fill(0)
  await writer.flush()
  expect(puts).toEqual([[{ hash: 'hash 1', bytes: bytesOf('first') }]])
})

test('more than maxBytes is rejected before it is stored', async () => {
  const { store, puts } = createStore()
  const writer = new BlockWriter(store, 's', { maxBytes: 3 })
  await writer.add(bytesOf('four'))
  await expect(writer.flush()).rejects.toMatchObject({ code: 'storage-full' })
  expect(puts).toEqual([])
})
