// What stays in memory: measured after a full collection, in bytes, never in time.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { SequencedChunk, StreamChunk } from '@helix-agents/core/runtime'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const NOW = 1_700_000_000_000

function heapUsed(): number {
  for (let pass = 0; pass < 3; pass++) collect()
  return process.memoryUsage().heapUsed
}

async function session(store: InMemoryStateStore, id: string, steps: number): Promise<void> {
  const write = { sessionId: id, runId: 'r', now: NOW }
  await store.createSession({ sessionId: id, agentType: 'a', customState: {}, now: NOW })
  await store.beginRun({ ...write, leaseMs: 1000 })
  for (let step = 0; step < steps; step++) {
    await store.beginStep({ ...write, messages: [], journal: [] })
    const checkpointId = `cpv1-${id}-s${step}-t${NOW}-abcdef`
    await store.commitStep({ ...write, now: NOW + step, messages: [], checkpointId })
  }
}

function text(delta: string): StreamChunk {
  return { type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp: NOW }
}

test('a step keeps at most 400 bytes beyond its messages', async () => {
  const store = new InMemoryStateStore()
  await session(store, 'warm', 1000)
  const before = heapUsed()
  await session(store, 'measured', 20_000)
  const bytesPerStep = (heapUsed() - before) / 20_000
  expect((await store.loadSession('measured'))?.stepCount).toBe(20_000)
  expect(bytesPerStep).toBeLessThan(400)
})

test('a deleted session leaves nothing', async () => {
  const store = new InMemoryStateStore()
  await session(store, 'warm', 1000)
  await store.deleteSession('warm')
  const before = heapUsed()
  for (let round = 0; round < 20; round++) {
    await session(store, `s${round}`, 1000)
    await store.deleteSession(`s${round}`)
  }
  expect((await store.listSessions()).items).toEqual([])
  expect(heapUsed() - before).toBeLessThan(500_000)
})

test('a stream keeps no more chunks than its buffer takes', async () => {
  const streams = new InMemoryStreamManager({ maxBufferedChunks: 100 })
  const writer = await streams.startRun('s', 'r', 'a')
  for (let index = 0; index < 1000; index++) await writer.write(text(`${index}`))
  const before = heapUsed()
  for (let index = 0; index < 50_000; index++) await writer.write(text(`${index}`))
  expect(heapUsed() - before).toBeLessThan(300_000)
})

test('finished runs keep no more bytes than the bound, however many there are', async () => {
  const streams = new InMemoryStreamManager()
  const before = heapUsed()
  for (let index = 0; index < 5; index++) {
    const writer = await streams.startRun(`s${index}`, 'r', 'a')
    for (let piece = 0; piece < 40; piece++) {
      await writer.write(text(`${index} ${piece} ${'x'.repeat(1_000_000 + piece)}`))
    }
    await streams.endRun(`s${index}`)
  }
  // The texts are flat by now; 64 MiB of ended runs, and no more.
  expect(heapUsed() - before).toBeLessThan(80_000_000)
  const chunks = await chunksOf(streams, 's0')
  expect(chunks).toMatchObject([{ type: 'stream_resync', reason: 'buffer-overrun' }])
})

test('a run keeps its newest chunks within its bytes, and a large one is cut', async () => {
  const streams = new InMemoryStreamManager({ maxBufferedBytes: 20_000, maxChunkBytes: 4096 })
  const writer = await streams.startRun('s', 'r', 'a')
  for (let index = 0; index < 50; index++) await writer.write(text(`${index} ${'x'.repeat(1000)}`))
  await writer.write(text('y'.repeat(5_000_000)))
  await streams.endRun('s')
  const chunks = await chunksOf(streams, 's')
  expect(chunks[0]).toMatchObject({ type: 'stream_resync', nextSequence: chunks[1]?.sequence })
  expect(chunks.length).toBeLessThan(21)
  const last = chunks.at(-1)
  expect(last).toMatchObject({ type: 'text_delta', truncated: ['delta'], sequence: 51 })
  expect(JSON.stringify(last).length).toBeLessThanOrEqual(4200)
})

test('a stream that ended and runs again is no ended one', async () => {
  const streams = new InMemoryStreamManager({ maxEndedBytes: 2000 })
  const first = await streams.startRun('first', 'r', 'a')
  await first.write(text('x'.repeat(1500)))
  await streams.endRun('first')
  await streams.resumeRun('first', 'r2', 'a')
  const second = await streams.startRun('second', 'r', 'a')
  await second.write(text('y'.repeat(1500)))
  await streams.endRun('second')
  await streams.endRun('first')
  const kept = async (id: string) => (await chunksOf(streams, id))[0]?.type
  expect([await kept('first'), await kept('second')]).toEqual(['text_delta', 'stream_resync'])
})

test('readers that were left or aborted leave nothing', async () => {
  const streams = new InMemoryStreamManager()
  const writer = await streams.startRun('s', 'r', 'a')
  const stop = new AbortController()
  await writer.write(text('first'))
  const before = heapUsed()
  for (let index = 0; index < 20_000; index++) {
    const chunks = await streams.read('s', { signal: stop.signal })
    const reader = chunks?.[Symbol.asyncIterator]()
    await reader?.next()
    void reader?.next()
    await reader?.return?.()
  }
  expect(heapUsed() - before).toBeLessThan(500_000)
})

async function chunksOf(streams: InMemoryStreamManager, id: string): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  for await (const chunk of (await streams.read(id)) ?? []) chunks.push(chunk)
  return chunks
}
