import type { SequencedChunk, StreamChunk } from '@helix-agents/core/runtime'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

function text(delta: string): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp: 1000 }
}

async function iterate(
  streams: InMemoryStreamManager,
  fromSequence?: number,
): Promise<AsyncIterator<SequencedChunk>> {
  const chunks = await streams.read('s', fromSequence === undefined ? {} : { fromSequence })
  return chunks![Symbol.asyncIterator]()
}

test('a waiting reader goes on with the next microtask after the write', async () => {
  const streams = new InMemoryStreamManager()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await iterate(streams)
  const log: string[] = []
  const waiting = reader.next().then(({ value }) => log.push(value.delta))
  const written = writer.write(text('chunk'))
  log.push('written')
  await Promise.resolve()
  expect(log).toEqual(['written', 'chunk'])
  await Promise.all([waiting, written])
})

test('calls of next that wait together are answered in their order', async () => {
  const streams = new InMemoryStreamManager()
  const writer = await streams.startRun('s', 'r', 'a')
  const reader = await iterate(streams)
  const results = Promise.all([reader.next(), reader.next(), reader.next()])
  await writer.write(text('a'))
  await writer.write(text('b'))
  await streams.endRun('s')
  expect((await results).map((result) => result.value?.delta)).toEqual(['a', 'b', undefined])
})

test('a reader that ended stays ended', async () => {
  const streams = new InMemoryStreamManager()
  await streams.startRun('s', 'r', 'a')
  const reader = await iterate(streams)
  await streams.endRun('s')
  expect((await reader.next()).done).toBe(true)
  const writer = await streams.resumeRun('s', 'r', 'a')
  await writer.write(text('late'))
  expect((await reader.next()).done).toBe(true)
})

test('a chunk that cannot be inspected is written without its fields, which it names', async () => {
  const streams = new InMemoryStreamManager()
  const writer = await streams.startRun('s', 'r', 'a')
  const broken = Object.defineProperty(text('lost'), 'delta', {
    enumerable: true,
    get: () => {
      throw new Error('of a proxy that is gone')
    },
  })
  await writer.write(broken)
  await writer.write(text('next'))
  const reader = await iterate(streams)
  expect((await reader.next()).value).toEqual({
    type: 'text_delta',
    agentId: 'r',
    agentType: 'a',
    timestamp: 1000,
    sequence: 1,
    truncated: ['type', 'delta', 'agentId', 'agentType', 'timestamp'],
  })
  expect((await reader.next()).value).toMatchObject({ delta: 'next' })
})

test.each([0, -1, 1.5, Number.NaN])('a buffer of %s chunks is refused', (maxBufferedChunks) => {
  expect(() => new InMemoryStreamManager({ maxBufferedChunks })).toThrow(RangeError)
})

test.each([Number.NaN, 1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'from %s, which is no sequence number, is told to read anew',
  async (fromSequence) => {
    const streams = new InMemoryStreamManager()
    const writer = await streams.startRun('s', 'r', 'a')
    await writer.write(text('one'))
    const reader = await iterate(streams, fromSequence)
    expect((await reader.next()).value).toMatchObject({ type: 'stream_resync', nextSequence: 1 })
    expect((await reader.next()).value).toMatchObject({ delta: 'one', sequence: 1 })
  },
)

test('any reader of any history sees rising sequences and misses nothing untold', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant('write' as const) },
    { weight: 3, arbitrary: fc.constant('read' as const) },
    { weight: 1, arbitrary: fc.constantFrom('start' as const, 'resume' as const) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(8), async (steps, fromSequence) => {
      const streams = new InMemoryStreamManager({ maxBufferedChunks: 4 })
      let writer = await streams.startRun('s', 'r', 'a')
      const reader = await iterate(streams, fromSequence || undefined)
      const seen: SequencedChunk[] = []
      const reads: Promise<unknown>[] = []
      const read = (): Promise<unknown> =>
        reader.next().then(({ done, value }) => (done === true ? undefined : seen.push(value)))
      for (const [index, action] of steps.entries()) {
        if (action === 'write') await writer.write(text(`${index}`))
        else if (action === 'read') reads.push(read())
        else if (action === 'start') writer = await streams.startRun('s', 'r', 'a')
        else writer = await streams.resumeRun('s', 'r', 'a')
      }
      await streams.endRun('s')
      await Promise.all(reads)
      const wrong = seen.slice(1).filter((after, index) => {
        const before = seen[index]!
        const gap = after.sequence - before.sequence
        return gap < 1 || (gap > 1 && after.type !== 'stream_resync')
      })
      expect(wrong).toEqual([])
    }),
    { numRuns: 200 },
  )
})
