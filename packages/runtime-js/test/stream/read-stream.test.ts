// A stream that is read chunk by chunk: when it is opened, what ends it, and what is waited for.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import type { RunServices } from '../../src/ports.ts'
import { readStream } from '../../src/stream/read-stream.ts'
import { settle } from '../harness.ts'

const chunk = (sequence: number) => ({ type: 'text_delta', sequence }) as unknown as SequencedChunk

function worldOf(
  chunks: readonly SequencedChunk[] | null,
  more: Partial<AsyncIterator<SequencedChunk>> = {},
) {
  const clock = new ManualClock()
  const opened: { options?: { signal: AbortSignal }; times: number } = { times: 0 }
  const reader = () => {
    const left = [...(chunks ?? [])]
    return {
      next: async () => {
        const value = left.shift()
        return value === undefined ? ({ done: true, value: undefined } as const) : { value }
      },
      ...more,
    }
  }
  const services = {
    // A run of this process: its session is not looked at.
    active: { get: () => ({}) },
    clock,
    logger: new RecordingLogger(),
    streamManager: {
      read: async (_: string, options: { signal: AbortSignal }) => {
        opened.times += 1
        opened.options = options
        return chunks === null ? null : { [Symbol.asyncIterator]: reader }
      },
    },
  } as unknown as RunServices
  return { services, clock, opened }
}

const numbersOf = async (stream: AsyncIterable<SequencedChunk>) => {
  const numbers: number[] = []
  for await (const { sequence } of stream) numbers.push(sequence)
  return numbers
}

test('it is opened with its first chunk, once for each reader, and read to its end', async () => {
  const { services, clock, opened } = worldOf([chunk(1), chunk(2)])
  const stream = readStream(services, 's', { fromSequence: 1 })
  await settle()
  expect(opened.times).toBe(0)
  expect(await numbersOf(stream)).toEqual([1, 2])
  expect([opened.times, opened.options]).toMatchObject([1, { fromSequence: 1 }])
  expect(await numbersOf(stream)).toEqual([1, 2])
  expect([opened.times, clock.pendingTimers]).toEqual([2, 0])
})

test('one that is not there is empty', async () => {
  const { services, clock } = worldOf(null)
  expect(await numbersOf(readStream(services, 's'))).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})

test('the signal of its reader ends it', async () => {
  const { services, opened } = worldOf([chunk(1)])
  const own = new AbortController()
  await readStream(services, 's', { signal: own.signal })[Symbol.asyncIterator]().next()
  expect(opened.options?.signal.aborted).toBe(false)
  own.abort()
  expect(opened.options?.signal.aborted).toBe(true)
})

test('who leaves waits until the stream has let go, and is not watched any more', async () => {
  const hold = Promise.withResolvers<never>()
  let isAsked = false
  const leave = () => ((isAsked = true), hold.promise)
  const { services, clock } = worldOf([chunk(1), chunk(2)], { return: leave })
  const reader = readStream(services, 's')[Symbol.asyncIterator]()
  await reader.next()
  expect(clock.pendingTimers).toBe(1)
  let hasLeft: unknown
  const leaving = reader.return?.().then((end) => (hasLeft = end))
  await settle()
  expect([isAsked, hasLeft, clock.pendingTimers]).toEqual([true, undefined, 0])
  hold.resolve({ done: true, value: undefined } as never)
  await leaving
  expect(hasLeft).toEqual({ done: true, value: undefined })
})

test('who leaves before the first chunk opens nothing', async () => {
  const { services, opened } = worldOf([chunk(1)])
  const reader = readStream(services, 's')[Symbol.asyncIterator]()
  expect(await reader.return?.()).toEqual({ done: true, value: undefined })
  expect(opened.times).toBe(0)
})

test('an error ends the watch as well', async () => {
  const err = new Error('lost')
  const { services, clock } = worldOf([], { next: () => Promise.reject(err) })
  const reader = readStream(services, 's')[Symbol.asyncIterator]()
  await expect(reader.next()).rejects.toBe(err)
  expect(clock.pendingTimers).toBe(0)
})

test('a stream that a process left is ended before its first chunk is read', async () => {
  const events: string[] = []
  const next = async () => {
    events.push('read')
    return { done: true, value: undefined } as const
  }
  const { services } = worldOf([], { next })
  const session = { sessionId: 's', runId: 'r', agentType: 'a', status: 'aborted', updatedAt: 0 }
  Object.assign(services, {
    active: { get: () => undefined },
    stateStore: { loadSession: async () => (await settle(), session) },
  })
  Object.assign(services.streamManager, { endRun: async () => void events.push('ended') })
  expect(await numbersOf(readStream(services, 's'))).toEqual([])
  expect(events).toEqual(['ended', 'read'])
})
