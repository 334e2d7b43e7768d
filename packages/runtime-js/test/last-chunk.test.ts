// How a run ended is told to its readers once, whoever is left to tell it.
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import { DEATHS, DoomedProcess, failingStore, failingStreams } from './crash/failing-store.ts'
import { say, settle } from './harness.ts'

const LEASE_MS = 60_000
const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const broken: MockStep = () => Promise.reject(new Error('down'))

const ENDS = [
  ['completed', say('the answer'), { type: 'output', output: 'the answer' }],
  ['failed', broken, { type: 'error', code: 'model-failed', message: 'the model call failed' }],
] as const

class World {
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  now = 1_000_000

  process(steps: readonly MockStep[], doomed = new DoomedProcess(Infinity)) {
    this.now += 2 * LEASE_MS
    return new JSAgentExecutor(
      failingStore(this.store, doomed),
      failingStreams(this.streams, doomed),
      new MockLLMAdapter(steps),
      { clock: new ManualClock(this.now), leaseMs: LEASE_MS },
    )
  }

  async chunks(): Promise<readonly SequencedChunk[]> {
    const handle = await this.process([]).getHandle(agent, 's')
    const chunks: SequencedChunk[] = []
    for await (const chunk of handle!.stream()) chunks.push(chunk)
    return chunks
  }
}

async function operationsOf(step: MockStep): Promise<number> {
  const doomed = new DoomedProcess(Infinity)
  const handle = await new World().process([step], doomed).execute(agent, 'Go', { sessionId: 's' })
  await handle.result()
  await settle()
  return doomed.operations.length
}

describe.each(ENDS)('a run that %s', (status, step, last) => {
  test.each(DEATHS)('is told once when its process dies at its end, %s', async (death) => {
    const count = await operationsOf(step)
    for (const at of [count - 1, count]) {
      const world = new World()
      const doomed = new DoomedProcess(at, death)
      const run = world.process([step], doomed).execute(agent, 'Go', { sessionId: 's' })
      await Promise.race([run.then((handle) => handle.result()).catch(() => undefined), settle()])
      await settle()
      if ((await world.store.loadSession('s'))?.status !== status) continue
      const [first, second] = await Promise.all([world.chunks(), world.chunks()])
      expect(first.at(-1)).toMatchObject(last)
      expect(first.filter(({ type }) => type === last.type)).toHaveLength(1)
      expect(second).toEqual(first)
      expect(await world.chunks()).toEqual(first)
    }
  })
})

test('a late process does not tell it again', async () => {
  const world = new World()
  const { promise: late, resolve: goOn } = Promise.withResolvers<void>()
  const streams = failingStreams(world.streams, new DoomedProcess(Infinity))
  streams.endRun = async (...run) => {
    await late
    return world.streams.endRun(...run)
  }
  const slow = new JSAgentExecutor(world.store, streams, new MockLLMAdapter([say('x')]), {
    clock: new ManualClock(world.now),
    leaseMs: LEASE_MS,
  })
  const handle = await slow.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  const before = await world.chunks()
  goOn()
  await handle.result()
  expect(await world.chunks()).toEqual(before)
  expect(before.map(({ type }) => type)).toEqual(['text_delta', 'output'])
})
