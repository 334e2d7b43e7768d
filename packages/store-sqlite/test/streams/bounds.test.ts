import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeBase64 } from '@helix-agents/core/provider'
import type { StreamChunk } from '@helix-agents/core/runtime'
import { SqlStreamManager } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { countChunks, openReader, openStreams, readAll, settled, text, wordsOf } from './script.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const BASE = { agentId: 'r', agentType: 'a', timestamp: 1 }

function toolEnd(result: unknown): StreamChunk {
  return { ...BASE, type: 'tool_end', toolCallId: 'c', toolName: 't', success: true, result }
}

test('a run keeps as many chunks as it may, and an eighth until they are dropped', async () => {
  const { database, streams } = await openStreams({ maxBufferedChunks: 80 })
  const writer = await streams.startRun('s', 'r', 'a')
  const counts = new Set<number>()
  for (let i = 0; i < 500; i++) {
    await writer.write(text(`${i}`))
    counts.add(await countChunks(database))
  }
  expect(Math.max(...counts)).toBe(90)
  await streams.endRun('s')
  const chunks = await readAll(streams)
  expect([chunks.length, ...wordsOf(chunks).slice(0, 2)]).toEqual([81, 'buffer-overrun', '420'])
})

test('a burst that is larger than the buffer leaves its end', async () => {
  const { database, streams } = await openStreams({ maxBufferedChunks: 80 })
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all(Array.from({ length: 5000 }, (_, i) => writer.write(text(`${i}`))))
  await streams.endRun('s')
  expect(await countChunks(database)).toBe(80)
  expect(wordsOf(await readAll(streams)).slice(0, 2)).toEqual(['buffer-overrun', '4920'])
})

test('a run keeps no more bytes than it may, and at least its newest chunk', async () => {
  const { database, streams } = await openStreams({ maxBufferedBytes: 8000 })
  const writer = await streams.startRun('s', 'r', 'a')
  const size = (): Promise<number> =>
    database.read((sql) => Number(sql.get('SELECT sum(bytes) AS n FROM helix_chunks')?.['n']))
  for (let i = 0; i < 200; i++) {
    await writer.write(text(`${i} ${'\u00e9'.repeat(i)}`))
    expect(await size()).toBeLessThanOrEqual(8000)
    const stored = await database.read((sql) =>
      sql.get('SELECT sum(length(CAST(chunk AS BLOB))) AS n FROM helix_chunks'),
    )
    expect(stored?.['n']).toBe(await size())
  }
  await writer.write(text('x'.repeat(20_000)))
  await streams.endRun('s')
  expect(await countChunks(database)).toBe(1)
  const chunks = await readAll(streams)
  expect(wordsOf(chunks)).toEqual(['buffer-overrun', 'x'.repeat(20_000)])
  expect(chunks[1]?.sequence).toBe(201)
})

test('chunks of earlier runs and of deleted streams leave the table', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all(Array.from({ length: 50 }, () => writer.write(text('old'))))
  const next = await streams.startRun('s', 'r2', 'a')
  expect(await countChunks(database)).toBe(0)
  await next.write(text('new'))
  expect(await countChunks(database)).toBe(1)
  await streams.deleteStream('s')
  expect(await countChunks(database)).toBe(0)
})

test('a slow reader that holds a page is told of what it missed', async () => {
  const { streams } = await openStreams({ maxBufferedChunks: 20 })
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all(Array.from({ length: 10 }, (_, i) => writer.write(text(`${i}`))))
  const reader = await openReader(streams)
  expect((await reader.next()).value).toMatchObject({ delta: '0' })
  await Promise.all(Array.from({ length: 15 }, (_, i) => writer.write(text(`${10 + i}`))))
  expect((await reader.next()).value).toMatchObject({ reason: 'buffer-overrun', nextSequence: 6 })
  expect((await reader.next()).value).toMatchObject({ delta: '5', sequence: 6 })
})

test('readers take pages, not the whole run', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const big = 'x'.repeat(200_000)
  for (let i = 0; i < 20; i++) await writer.write(text(big))
  await Promise.all(Array.from({ length: 1000 }, () => writer.write(text('small'))))
  await streams.endRun('s')
  expect((await readAll(streams)).length).toBe(1020)
  const lengths = database.pages.map((rows) => String(rows.map((row) => row['chunk'])).length)
  expect(lengths.length).toBeGreaterThan(6)
  expect(Math.max(...lengths)).toBeLessThan(1_500_000)
  expect(Math.max(...database.pages.map((rows) => rows.length))).toBe(256)
})

test('readers that were left hold nothing', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all(Array.from({ length: 300 }, () => writer.write(text('x'.repeat(1000)))))
  const left: WeakRef<object>[] = []
  for (let i = 0; i < 50; i++) {
    const reader = await openReader(streams)
    await reader.next()
    left.push(new WeakRef(reader))
  }
  await settled()
  collect()
  await writer.write(text('more'))
  collect()
  expect(left.filter((one) => one.deref() !== undefined).length).toBeLessThan(5)
})

test('a chunk that is too large is cut, marked, and in its place', async () => {
  const { streams } = await openStreams({ maxChunkBytes: 4096 })
  const writer = await streams.startRun('s', 'r', 'a')
  await writer.write(text('before'))
  await writer.write(toolEnd({ lines: 'y'.repeat(100_000) }))
  await writer.write(text('z'.repeat(4000)))
  await writer.write(text('z'.repeat(4096)))
  await streams.endRun('s')
  const [, cut, whole, text2] = await readAll(streams)
  expect(cut).toMatchObject({
    sequence: 2,
    truncated: ['result'],
    result: `{"lines":"${'y'.repeat(22)}`,
    toolCallId: 'c',
    success: true,
  })
  expect(whole).not.toHaveProperty('truncated')
  expect(text2).toMatchObject({ sequence: 4, truncated: ['delta'], delta: 'z'.repeat(32) })
})

const circular: Record<string, unknown> = { name: 'loop' }
circular['self'] = circular
const hostile = {
  get value() {
    throw new Error('not for you')
  },
}

test.each([
  ['circular', circular, null],
  ['a getter that throws', hostile, null],
  ['a toJSON that throws', { toJSON: () => hostile.value }, null],
  ['a bigint', { n: 1n }, { n: '1' }],
  ['undefined', undefined, undefined],
  ['a function', () => 1, undefined],
  ['a map', new Map([[1, 2]]), {}],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a key of objects', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
])('a result that JSON does not know keeps its place: %s', async (_, result, stored) => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all([
    writer.write(text('a')),
    writer.write(toolEnd(result)),
    writer.write(text('b')),
  ])
  await streams.endRun('s')
  const chunks = await readAll(streams)
  expect(chunks.map((chunk) => chunk.sequence)).toEqual([1, 2, 3])
  expect(chunks[1]).toMatchObject({ type: 'tool_end', toolName: 't' })
  expect((chunks[1] as { result?: unknown }).result).toEqual(stored)
})

test('bytes are kept as base64, and a chunk that cannot be looked at as its names', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await writer.write(toolEnd({ file: Buffer.from([0, 255, 10]) }))
  const chunk = toolEnd(1)
  Object.defineProperty(chunk, 'result', Object.getOwnPropertyDescriptor(hostile, 'value')!)
  await writer.write(chunk)
  await streams.endRun('s')
  const [bytes, names] = await readAll(streams)
  const { result } = bytes as { result?: { file: { $bytes: string } } }
  expect([...decodeBase64(result!.file.$bytes)]).toEqual([0, 255, 10])
  expect(names).toMatchObject({ ...BASE, type: 'tool_end', sequence: 2 })
  expect(names?.truncated).toContain('result')
})

test('a chunk is what it was when it was written', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const result = { n: 1 }
  const written = writer.write(toolEnd(result))
  result.n = 2
  await written
  await streams.endRun('s')
  expect(await readAll(streams)).toMatchObject([{ result: { n: 1 } }])
})

test.each([
  { maxBufferedChunks: 0 },
  { maxBufferedChunks: 1.5 },
  { maxBufferedBytes: Number.NaN },
  { maxChunkBytes: 4095 },
])('a limit that is none is refused: %j', async (options) => {
  const { database } = await openStreams()
  expect(() => new SqlStreamManager(database, options)).toThrow(RangeError)
})
