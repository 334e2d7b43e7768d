import type { SequencedChunk, StreamChunk } from '@helix-agents/core/runtime'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { MemoryStream } from '../src/memory-stream.ts'
import { parseStreamBounds } from '../src/stream-bounds.ts'

const RUN = { agentId: 'r', agentType: 'a' }

function text(delta: string, timestamp = 1000): StreamChunk {
  return { type: 'text_delta', delta, ...RUN, timestamp }
}

function open(bounds: Parameters<typeof parseStreamBounds>[0] = {}): MemoryStream {
  return new MemoryStream(parseStreamBounds(bounds), RUN)
}

/** What a chunk without text takes. */
const EMPTY = bytesOf('')

function bytesOf(delta: string): number {
  const stream = open()
  stream.write(text(delta))
  return stream.bytes
}

/** A chunk that takes so many bytes. */
const ofBytes = (bytes: number): StreamChunk => text('x'.repeat(bytes - EMPTY))

/** Sequence numbers that a reader may take. */
function keptOf(stream: MemoryStream, last: number): number[] {
  const positions = Array.from({ length: last }, (_, index) => index + 1)
  return positions.filter((position) => {
    const taken = stream.take(position)
    return typeof taken !== 'string' && taken.type === 'text_delta'
  })
}

test('as many bytes are kept as a run may, of more an eighth is dropped as well', () => {
  const stream = open({ maxBufferedBytes: 800 })
  for (let chunk = 0; chunk < 4; chunk++) stream.write(ofBytes(200))
  expect([stream.bytes, keptOf(stream, 4)]).toEqual([800, [1, 2, 3, 4]])
  stream.write(ofBytes(100))
  expect([stream.bytes, keptOf(stream, 5)]).toEqual([700, [2, 3, 4, 5]])
  stream.write(ofBytes(101))
  expect([stream.bytes, keptOf(stream, 6)]).toEqual([601, [3, 4, 5, 6]])
})

test('the newest chunk stays however large it is', () => {
  const stream = open({ maxBufferedBytes: 800 })
  stream.write(ofBytes(200))
  stream.write(ofBytes(900))
  expect([stream.bytes, keptOf(stream, 2)]).toEqual([900, [2]])
  stream.write(ofBytes(801))
  expect([stream.bytes, keptOf(stream, 3)]).toEqual([801, [3]])
  stream.write(ofBytes(EMPTY))
  expect([stream.bytes, keptOf(stream, 4)]).toEqual([EMPTY, [4]])
})

test('as many chunks are kept as a run may, in a later run as well', () => {
  const stream = open({ maxBufferedChunks: 3 })
  for (let chunk = 0; chunk < 3; chunk++) stream.write(text('x'))
  expect(keptOf(stream, 3)).toEqual([1, 2, 3])
  stream.write(text('x'))
  expect([keptOf(stream, 4), stream.bytes]).toEqual([[2, 3, 4], 3 * bytesOf('x')])
  stream.startRun(RUN)
  expect([stream.runStart, stream.bytes]).toEqual([6, 0])
  for (let chunk = 0; chunk < 4; chunk++) stream.write(text('y'))
  expect([keptOf(stream, 9), stream.bytes]).toEqual([[7, 8, 9], 3 * bytesOf('y')])
})

test('a position of no chunk is told what to read, with the time of the last one', () => {
  const stream = open({ maxBufferedChunks: 2 })
  const resync = (reason: string, nextSequence: number, timestamp: number): unknown => ({
    ...RUN,
    type: 'stream_resync',
    reason,
    nextSequence,
    sequence: nextSequence - 1,
    timestamp,
  })
  expect([stream.take(1), stream.take(0), stream.take(-5)]).toEqual(['wait', 'wait', 'wait'])
  expect(stream.take(2)).toEqual(resync('new-run', 1, 0))
  for (let chunk = 1; chunk <= 3; chunk++) stream.write(text('x', chunk))
  expect(stream.take(1)).toEqual(resync('buffer-overrun', 2, 3))
  expect(stream.take(0)).toEqual(resync('buffer-overrun', 2, 3))
  expect(stream.take(2)).toEqual({ ...text('x', 2), sequence: 2 })
  expect([stream.take(4), stream.take(5)]).toEqual(['wait', resync('new-run', 2, 3)])
  stream.startRun(RUN)
  expect([stream.take(4), stream.take(5)]).toEqual([resync('new-run', 5, 3), 'wait'])
  stream.endRun(text('last', 9))
  expect([stream.take(5), stream.take(6)]).toMatchObject([{ delta: 'last', sequence: 5 }, 'end'])
  stream.endRun(text('later'))
  expect(stream.take(6)).toBe('end')
  stream.dropChunks()
  expect(stream.bytes).toBe(0)
  expect(stream.take(5)).toEqual(resync('buffer-overrun', 6, 9))
  expect(stream.take(6)).toBe('end')
})

test('a reader is woken once, unless it was forgotten', () => {
  const stream = open()
  const woken: string[] = []
  const reader = (name: string) => ({ wake: () => void woken.push(name) })
  const [a, b] = [reader('a'), reader('b')]
  stream.whenChanged(a)
  stream.whenChanged(b)
  stream.forget(b)
  stream.write(text('x'))
  stream.write(text('x'))
  expect(woken).toEqual(['a'])
  for (const change of [
    () => stream.resumeRun(RUN),
    () => stream.startRun(RUN),
    () => stream.endRun(),
  ]) {
    stream.whenChanged(b)
    change()
  }
  expect(woken).toEqual(['a', 'b', 'b', 'b'])
})

async function wordsOf(streams: InMemoryStreamManager, id: string): Promise<string[]> {
  const words: string[] = []
  for await (const chunk of (await streams.read(id)) ?? []) words.push(wordOf(chunk))
  return words
}

function wordOf(chunk: SequencedChunk): string {
  return chunk.type === 'text_delta' ? `${chunk.delta.length + EMPTY}` : chunk.type
}

async function ended(
  streams: InMemoryStreamManager,
  id: string,
  bytes: number,
): Promise<InMemoryStreamManager> {
  await (await streams.startRun(id, 'r', 'a')).write(ofBytes(bytes))
  await streams.endRun(id)
  return streams
}

test('of streams that have ended, those that ended last are kept', async () => {
  const streams = new InMemoryStreamManager({ maxEndedBytes: 1000 })
  await ended(streams, 'a', 500)
  await ended(streams, 'b', 500)
  await streams.endRun('a')
  expect([await wordsOf(streams, 'a'), await wordsOf(streams, 'b')]).toEqual([['500'], ['500']])
  await ended(streams, 'c', 200)
  expect(await wordsOf(streams, 'b')).toEqual(['stream_resync'])
  expect([await wordsOf(streams, 'a'), await wordsOf(streams, 'c')]).toEqual([['500'], ['200']])
  await ended(streams, 'd', 1001)
  for (const id of ['a', 'c', 'd']) expect(await wordsOf(streams, id)).toEqual(['stream_resync'])
  await ended(streams, 'e', 1000)
  expect(await wordsOf(streams, 'e')).toEqual(['1000'])
})

test('a stream that goes on, or is deleted, counts no more among those that have ended', async () => {
  const streams = new InMemoryStreamManager({ maxEndedBytes: 1000 })
  await ended(streams, 'a', 600)
  const resumed = await streams.resumeRun('a', 'r', 'a')
  await ended(streams, 'b', 600)
  await resumed.write(ofBytes(200))
  await streams.deleteStream('b')
  await ended(streams, 'c', 200)
  await streams.endRun('a')
  expect([await wordsOf(streams, 'a'), await wordsOf(streams, 'c')]).toEqual([
    ['600', '200'],
    ['200'],
  ])
  await streams.startRun('a', 'r', 'a')
  await ended(streams, 'd', 800)
  expect([await wordsOf(streams, 'c'), await wordsOf(streams, 'd')]).toEqual([['200'], ['800']])
})
