import { getEventListeners } from 'node:events'
import { SqlError } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { openReader, openStreams, readAll, settled, text, wordsOf } from './script.ts'

const waits = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

test('each chunk is given as an iterator gives it, and the end as well', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await writer.write(text('a'))
  const reader = await openReader(streams)
  expect(await reader.next()).toEqual({ done: false, value: { ...text('a'), sequence: 1 } })
  await streams.startRun('s', 'r2', 'a')
  expect(await reader.next()).toEqual({
    done: false,
    value: expect.objectContaining({ type: 'stream_resync', nextSequence: 3 }),
  })
  await streams.endRun('s')
  expect(await reader.next()).toEqual({ done: true, value: undefined })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('a reader listens to its signal only while somebody waits for it', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const { signal } = new AbortController()
  const reader = await openReader(streams, { signal })
  expect(waits(signal)).toBe(0)
  const next = [reader.next(), reader.next()]
  expect(waits(signal)).toBe(1)
  await writer.write(text('a'))
  await next[0]
  expect(waits(signal)).toBe(1)
  await writer.write(text('b'))
  await next[1]
  expect(waits(signal)).toBe(0)
  const last = reader.next()
  expect(waits(signal)).toBe(1)
  await streams.endRun('s')
  expect(await last).toEqual({ done: true, value: undefined })
  expect(waits(signal)).toBe(0)
})

test('a reader whose signal is aborted ends at once, also while it reads', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await writer.write(text('a'))
  const stop = new AbortController()
  const reader = await openReader(streams, { signal: stop.signal })
  const { promise, resolve } = Promise.withResolvers<void>()
  database.gate = promise
  const results = [reader.next(), reader.next()]
  await settled()
  stop.abort()
  for (const result of results) expect(await result).toEqual({ done: true, value: undefined })
  expect(waits(stop.signal)).toBe(0)
  resolve()
  await settled()
  expect(await reader.next()).toEqual({ done: true, value: undefined })
  const late = await openReader(streams, { signal: stop.signal })
  expect(await late.next()).toEqual({ done: true, value: undefined })
})

test('a reader that is left waits for nothing', async () => {
  const { database, streams } = await openStreams()
  await streams.startRun('s', 'r', 'a')
  const { signal } = new AbortController()
  const reader = await openReader(streams, { signal })
  const next = reader.next()
  await settled()
  expect(database.listeners).toBe(1)
  expect(await reader.return?.()).toEqual({ done: true, value: undefined })
  expect(await next).toEqual({ done: true, value: undefined })
  expect([waits(signal), database.listeners]).toEqual([0, 0])
  database.reads = 0
  await (await streams.resumeRun('s', 'r', 'a')).write(text('a'))
  await settled()
  expect(database.reads).toBe(0)
})

test('calls that wait together are answered in their order, by one reader', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await openReader(streams)
  expect(Object(reader)[Symbol.asyncIterator]()).toBe(reader)
  const results = Promise.all([reader.next(), reader.next(), reader.next(), reader.next()])
  await Promise.all([writer.write(text('a')), writer.write(text('b'))])
  await writer.write(text('c'))
  await streams.endRun('s')
  expect((await results).map(({ value }) => value?.sequence)).toEqual([1, 2, 3, undefined])
  expect(database.reads).toBeLessThan(7)
})

test('a reader that has all there is asks again only when there is more', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  await Promise.all([writer.write(text('a')), writer.write(text('b'))])
  const reader = await openReader(streams)
  database.reads = 0
  await reader.next()
  await reader.next()
  expect(database.reads).toBe(1)
  const next = reader.next()
  await settled()
  expect(database.reads).toBe(1)
  await writer.write(text('c'))
  expect((await next).value).toMatchObject({ delta: 'c', sequence: 3 })
  expect(database.reads).toBe(2)
})

test('what a reader holds is read again only when it may be out of date', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const other = await streams.startRun('t', 'r', 'a')
  await Promise.all(['a', 'b', 'c', 'd'].map((word) => writer.write(text(word))))
  const reader = await openReader(streams)
  database.reads = 0
  const words = [(await reader.next()).value]
  await writer.write(text('e'))
  await other.write(text('x'))
  words.push((await reader.next()).value)
  expect(database.reads).toBe(1)
  await streams.startRun('t', 'r2', 'a')
  database.statements = []
  words.push((await reader.next()).value)
  expect([database.reads, database.statements.length]).toEqual([2, 1])
  words.push((await reader.next()).value, (await reader.next()).value)
  expect(wordsOf(words.flatMap((word) => word ?? []))).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(database.reads).toBe(3)
})

test('a change that comes while a reader reads is not missed', async () => {
  const { database, streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await openReader(streams)
  database.failure = () => {
    database.failure = undefined
    void writer.write(text('a'))
  }
  expect((await reader.next()).value).toMatchObject({ delta: 'a' })
  await writer.write(text('b'))
  expect((await reader.next()).value).toMatchObject({ delta: 'b' })
})

test('an error of the database is told once, to the first that waits; then the reader has ended', async () => {
  const { database, streams } = await openStreams()
  await streams.startRun('s', 'r', 'a')
  const { signal } = new AbortController()
  const reader = await openReader(streams, { signal })
  database.failure = () => {
    throw new SqlError('io', 'the disk')
  }
  const [first, second] = [reader.next(), reader.next()]
  await expect(first).rejects.toMatchObject({
    name: 'StateStoreError',
    code: 'unavailable',
    sessionId: 's',
  })
  expect(await second).toEqual({ done: true, value: undefined })
  expect(waits(signal)).toBe(0)
  database.failure = undefined
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('a reader goes on behind each page', async () => {
  const { streams } = await openStreams()
  const writer = await streams.startRun('s', 'r', 'a')
  const words = Array.from({ length: 600 }, (_, index) => `${index}`)
  await Promise.all(words.map((word) => writer.write(text(word))))
  const reader = await openReader(streams)
  const seen = [(await reader.next()).value]
  await writer.write(text('later'))
  await streams.endRun('s')
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
    seen.push(next.value)
  }
  expect(wordsOf(seen.flatMap((chunk) => chunk ?? []))).toEqual([...words, 'later'])
  expect((await readAll(streams, { fromSequence: 257 })).length).toBe(345)
})
