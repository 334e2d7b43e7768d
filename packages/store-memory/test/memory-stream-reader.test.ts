import { getEventListeners } from 'node:events'
import type { SequencedChunk, StreamChunk, StreamReaderOptions } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { MemoryStream } from '../src/memory-stream.ts'
import { MemoryStreamReader } from '../src/memory-stream-reader.ts'
import { parseStreamBounds } from '../src/stream-bounds.ts'

const RUN = { agentId: 'r', agentType: 'a' }
const DONE = { done: true, value: undefined }

function text(delta: string): StreamChunk {
  return { type: 'text_delta', delta, ...RUN, timestamp: 1000 }
}

const chunk = (delta: string, sequence: number): IteratorResult<SequencedChunk> => ({
  done: false,
  value: { ...text(delta), sequence },
})

function open(options: StreamReaderOptions = {}) {
  const stream = new MemoryStream(parseStreamBounds({}), RUN)
  return { stream, reader: new MemoryStreamReader(stream, options) }
}

const waits = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

test('each chunk is given as an iterator gives it, and the end as well', async () => {
  const { stream, reader } = open()
  expect(reader[Symbol.asyncIterator]()).toBe(reader)
  stream.write(text('a'))
  expect(await reader.next()).toEqual(chunk('a', 1))
  const next = [reader.next(), reader.next(), reader.next()]
  stream.write(text('b'))
  stream.write(text('c'))
  stream.endRun()
  expect(await Promise.all(next)).toEqual([chunk('b', 2), chunk('c', 3), DONE])
  stream.resumeRun(RUN)
  stream.write(text('d'))
  expect(await reader.next()).toEqual(DONE)
})

test('a reader listens to its signal once, from when it first waits until it ends', async () => {
  const { signal } = new AbortController()
  const { stream, reader } = open({ signal })
  stream.write(text('a'))
  await reader.next()
  expect(waits(signal)).toBe(0)
  const next = [reader.next(), reader.next()]
  stream.write(text('b'))
  await next[0]
  expect(waits(signal)).toBe(1)
  stream.endRun()
  expect(await next[1]).toEqual(DONE)
  expect(waits(signal)).toBe(0)
})

test('a reader that is aborted or left ends at once, and takes nothing more', async () => {
  const stop = new AbortController()
  const { stream, reader } = open({ signal: stop.signal })
  const next = [reader.next(), reader.next()]
  stop.abort()
  expect(await Promise.all(next)).toEqual([DONE, DONE])
  stream.write(text('a'))
  expect(await reader.next()).toEqual(DONE)
  const left = new MemoryStreamReader(stream, { fromSequence: 2 })
  const waiting = left.next()
  expect(await left.return()).toEqual(DONE)
  expect(await waiting).toEqual(DONE)
  stream.write(text('b'))
  expect(await left.next()).toEqual(DONE)
  const late = new MemoryStreamReader(stream, { signal: stop.signal })
  expect(await late.next()).toEqual(DONE)
  expect(waits(stop.signal)).toBe(0)
})
