// What stays in memory: measured after a full collection, in bytes, never in time.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { StreamChunk } from '@helix-agents/core'
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
