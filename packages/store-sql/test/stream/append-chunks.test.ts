import type { SqlDatabase } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { appendChunks } from '../../src/stream/append-chunks.ts'
import type { StreamLimits } from '../../src/stream/stream-limits.ts'
import {
  type AcquiredStream,
  closeStream,
  resumeRun,
  startRun,
} from '../../src/stream/stream-rows.ts'
import { openMigrated } from '../conformance.ts'

const NAMES = { streamId: 's', agentId: 'r', agentType: 'a' }
const limits = (given: Partial<StreamLimits>): StreamLimits => ({
  maxBufferedChunks: 1000,
  maxBufferedBytes: 1000,
  maxChunkBytes: 4096,
  ...given,
})

/** A run that is not the first of its stream. */
async function open() {
  const database = await openMigrated()
  const acquired = await database.write((sql) => {
    for (let run = 0; run < 5; run++) startRun(sql, { ...NAMES, streamId: 'other' })
    for (let run = 0; run < 5; run++) startRun(sql, NAMES)
    return startRun(sql, NAMES)
  })
  return { database, acquired }
}

interface Stored {
  readonly database: SqlDatabase
  readonly acquired: AcquiredStream
}

/** Appends chunks of these sizes. @returns whether old ones were dropped */
async function append(
  { database, acquired }: Stored,
  sizes: readonly number[],
  given: StreamLimits,
): Promise<boolean | undefined> {
  const chunks = sizes.map((bytes) => ({ json: `${bytes}`, bytes }))
  return (await database.write((sql) => appendChunks(sql, acquired, chunks, given)))?.hasDropped
}

/** Sequence number, end and size of each chunk that is kept. */
function keptOf({ database }: Stored): Promise<unknown[]> {
  return database.read((sql) =>
    sql
      .all('SELECT sequence, end_bytes, bytes, chunk FROM helix_chunks ORDER BY sequence')
      .map((row) => [row['sequence'], row['end_bytes'], row['bytes'], row['chunk']]),
  )
}

async function sequencesOf(stored: Stored): Promise<unknown[]> {
  return (await keptOf(stored)).map((row) => (row as readonly unknown[])[0])
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('chunks follow each other, over several calls', async () => {
  const stored = await open()
  expect(await append(stored, [3, 4], limits({}))).toBe(false)
  expect(await append(stored, [5], limits({}))).toBe(false)
  expect(await keptOf(stored)).toEqual([
    [6, 3, 3, '3'],
    [7, 7, 4, '4'],
    [8, 12, 5, '5'],
  ])
})

test('an eighth more chunks than a run may keep are there, then as many as it may', async () => {
  const stored = await open()
  const sixteen = limits({ maxBufferedChunks: 16 })
  for (let count = 1; count <= 18; count++) expect(await append(stored, [1], sixteen)).toBe(false)
  expect(await sequencesOf(stored)).toEqual(range(6, 23))
  expect(await append(stored, [1], sixteen)).toBe(true)
  expect(await sequencesOf(stored)).toEqual(range(9, 24))
  expect(await append(stored, [1, 1], sixteen)).toBe(false)
  expect(await append(stored, [1], sixteen)).toBe(true)
  expect(await sequencesOf(stored)).toEqual(range(12, 27))
})

test('as many bytes are kept as a run may, of more an eighth is dropped as well', async () => {
  const stored = await open()
  const bytes = limits({ maxBufferedBytes: 80 })
  expect(await append(stored, [10, 10, 10, 10, 10, 10, 10, 10], bytes)).toBe(false)
  expect(await sequencesOf(stored)).toEqual(range(6, 13))
  expect(await append(stored, [1], bytes)).toBe(true)
  expect(await sequencesOf(stored)).toEqual(range(8, 14))
  expect(await append(stored, [19], bytes)).toBe(false)
  expect(await append(stored, [10], bytes)).toBe(true)
  expect(await sequencesOf(stored)).toEqual(range(10, 16))
  expect((await keptOf(stored))[0]).toEqual([10, 50, 10, '10'])
})

test('what fits exactly stays', async () => {
  const stored = await open()
  const bytes = limits({ maxBufferedBytes: 80 })
  expect(await append(stored, [11, 30, 40], bytes)).toBe(true)
  expect(await sequencesOf(stored)).toEqual([7, 8])
})

test('the newest chunk stays however large it is', async () => {
  const stored = await open()
  const bytes = limits({ maxBufferedBytes: 80 })
  await append(stored, [10, 10], bytes)
  expect(await append(stored, [500], bytes)).toBe(true)
  expect(await keptOf(stored)).toEqual([[8, 520, 500, '500']])
  expect(await append(stored, [2], bytes)).toBe(true)
  expect(await keptOf(stored)).toEqual([[9, 522, 2, '2']])
  expect(await append(stored, [78], bytes)).toBe(false)
})

test('of both limits the stricter one counts', async () => {
  const stored = await open()
  const both = limits({ maxBufferedChunks: 2, maxBufferedBytes: 80 })
  expect(await append(stored, [40, 40, 1], both)).toBe(true)
  expect(await sequencesOf(stored)).toEqual([7, 8])
  expect(await append(stored, [1], limits({ maxBufferedChunks: 3, maxBufferedBytes: 8 }))).toBe(
    true,
  )
  expect(await sequencesOf(stored)).toEqual([8, 9])
})

test('nothing is written by a writer that another one has replaced, or after the end', async () => {
  const stored = await open()
  await append(stored, [1], limits({}))
  const { database } = stored
  const acquired = await database.write((sql) => resumeRun(sql, NAMES))
  expect(acquired).toEqual({ stream: stored.acquired.stream, writer: stored.acquired.writer + 1 })
  expect(await append(stored, [2], limits({}))).toBeUndefined()
  expect(await append({ database, acquired }, [3], limits({}))).toBe(false)
  await database.write((sql) => closeStream(sql, acquired.stream))
  expect(await append({ database, acquired }, [4], limits({}))).toBeUndefined()
  expect(await sequencesOf(stored)).toEqual([6, 7])
})
