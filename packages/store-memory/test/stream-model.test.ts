// Any sequence of operations on a stream: its readers see the chunks of the current run in order,
// without a gap, and are told of what they missed.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const sampler = new TestSampler()

const CAPACITY = 5

type Operation =
  | { readonly type: 'start' | 'resume' | 'end' | 'end-of-another' | 'reconnect' }
  | { readonly type: 'write' | 'read'; readonly count: number }

const counted = fc.record({
  type: fc.constantFrom('write' as const, 'read' as const),
  count: fc.integer({ min: 1, max: 7 }),
})
const plain = fc.record({
  type: fc.constantFrom(
    'start' as const,
    'resume' as const,
    'end' as const,
    'end-of-another' as const,
    'reconnect' as const,
  ),
})
const script = fc.array(fc.oneof(counted, counted, plain), { maxLength: 40 })

/** What the stream must hold: the chunks of the current run, by number. */
interface Model {
  run: number
  isOpen: boolean
  written: number
}

class Follower {
  readonly #streams: InMemoryStreamManager
  readonly got: SequencedChunk[] = []
  #reader: AsyncIterator<SequencedChunk> | undefined

  constructor(streams: InMemoryStreamManager) {
    this.#streams = streams
  }

  async reconnect(): Promise<void> {
    await this.#reader?.return?.()
    const last = this.got.at(-1)
    const from = last === undefined ? {} : { fromSequence: last.sequence + 1 }
    const chunks = await this.#streams.read('s', from)
    this.#reader = chunks?.[Symbol.asyncIterator]()
  }

  /** Takes what is there, and no more than asked for. */
  async take(count: number): Promise<void> {
    for (let taken = 0; taken < count; taken++) {
      const next = this.#reader?.next()
      const result = await Promise.race([next, Promise.resolve().then(() => undefined)])
      if (result === undefined || result.done === true) return this.reconnect()
      this.got.push(result.value)
    }
  }
}

interface Played {
  readonly got: readonly SequencedChunk[]
  /** The last chunk of the current run. */
  readonly last: string | undefined
}

async function play(operations: readonly Operation[]): Promise<Played> {
  const streams = new InMemoryStreamManager({ maxBufferedChunks: CAPACITY })
  const model: Model = { run: 1, isOpen: true, written: 0 }
  let writer = await streams.startRun('s', 'run-1', 'agent')
  const follower = new Follower(streams)
  await follower.reconnect()
  const steps: Record<Operation['type'], (count: number) => Promise<void>> = {
    start: async () => {
      Object.assign(model, { run: model.run + 1, isOpen: true, written: 0 })
      writer = await streams.startRun('s', `run-${model.run}`, 'agent')
    },
    resume: async () => {
      model.isOpen = true
      writer = await streams.resumeRun('s', `run-${model.run}`, 'agent')
    },
    end: async () => {
      model.isOpen = false
      await streams.endRun('s', `run-${model.run}`)
    },
    'end-of-another': () => streams.endRun('s', 'nobody'),
    reconnect: () => follower.reconnect(),
    write: async (count) => {
      for (let index = 0; index < count; index++) {
        const delta = `${model.run}.${model.written}`
        await writer.write({
          type: 'text_delta',
          delta,
          agentId: `run-${model.run}`,
          agentType: 'agent',
          timestamp: 0,
        })
        if (model.isOpen) model.written += 1
      }
    },
    read: (count) => follower.take(count),
  }
  for (const operation of operations) {
    await steps[operation.type]('count' in operation ? operation.count : 1)
  }
  await streams.endRun('s')
  await follower.reconnect()
  await follower.take(100)
  const { run, written } = model
  return { got: follower.got, last: written === 0 ? undefined : `${run}.${written - 1}` }
}

/** What is wrong between a chunk and the one before; a resync tells of what is missing. */
function gapBetween(before: SequencedChunk | undefined, chunk: SequencedChunk): string[] {
  if (before === undefined) return []
  if (chunk.sequence <= before.sequence) return [`${chunk.sequence} after ${before.sequence}`]
  if (chunk.type !== 'text_delta') return []
  const isNext = chunk.sequence === before.sequence + 1
  if (before.type !== 'text_delta') return isNext ? [] : [`${chunk.delta} after a resync`]
  const [run, index] = before.delta.split('.')
  const follows = chunk.delta === `${run}.${Number(index) + 1}`
  return isNext && follows ? [] : [`${chunk.delta} after ${before.delta}`]
}

test('a reader that comes and goes misses nothing without being told', async () => {
  await fc.assert(
    fc.asyncProperty(script, async (operations) => {
      const { got, last } = await play(operations)
      const gaps = got.flatMap((chunk, position) => gapBetween(got[position - 1], chunk))
      const final = got.findLast((chunk) => chunk.type === 'text_delta')
      expect(gaps).toEqual([])
      // What was written last in the current run is there, if anything was.
      expect(last === undefined || final?.delta === last).toBe(true)
    }),
    { numRuns: sampler.size(500, 150), seed: sampler.seedOf('streams in memory') },
  )
})
