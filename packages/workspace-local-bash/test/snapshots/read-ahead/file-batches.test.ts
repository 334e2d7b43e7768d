import {
  createTimeSlice,
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  type SnapshotFile,
} from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { inBatches } from '../../../src/snapshots/read-ahead/file-batches.ts'
import { turnsDuring } from '../../slow-machine.ts'

const file = (hash: string | undefined, size: number): SnapshotFile => ({
  path: '/f',
  type: 'file',
  size,
  blocks: hash === undefined ? [] : [hash],
})
const sizes = async (files: readonly SnapshotFile[]) =>
  (await inBatches(files, createTimeSlice())).map((batch) => [
    batch.files.length,
    batch.hashes.length,
  ])

describe('batches of files', () => {
  const [most, mostFiles] = [SNAPSHOT_BATCH_BLOCKS, 2 * SNAPSHOT_BATCH_BLOCKS]

  it('have the blocks that a store gives at once, each once, and twice as many files', async () => {
    const blocks = Array.from({ length: most + 1 }, (_, index) => file(`${index}`, 1))
    expect(await sizes(blocks)).toEqual([
      [most, most],
      [1, 1],
    ])
    expect(await sizes(Array.from({ length: mostFiles + 1 }, () => file('same', 1)))).toEqual([
      [mostFiles, 1],
      [1, 1],
    ])
    const empty = Array.from({ length: mostFiles }, () => file(undefined, 0))
    expect(await sizes(empty)).toEqual([[mostFiles, 0]])
    expect(await sizes([])).toEqual([])
  })
  it('end with the file that has them over half of what a store gives at once', async () => {
    const half = SNAPSHOT_BATCH_BYTES / 2
    expect(await sizes([file('a', half), file('b', 1), file('c', 1)])).toEqual([
      [2, 2],
      [1, 1],
    ])
    expect(await sizes([file('a', half + 1), file('b', 1)])).toEqual([
      [1, 1],
      [1, 1],
    ])
    const [batch] = await inBatches([file('a', 3), file('a', 3), file('b', 4)], createTimeSlice())
    expect(batch).toMatchObject({ hashes: ['a', 'b'], lengths: [3, 4] })
  })
})

it('other work has its turns while batches are made', async () => {
  const files = Array.from({ length: 20 }, (_, n) => file(`${n}`, 1))
  const turns = await turnsDuring(() => inBatches(files, createTimeSlice()))
  expect(turns).toBeGreaterThanOrEqual(20)
})
