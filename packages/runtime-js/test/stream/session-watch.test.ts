// Who reads a stream that nobody ends looks after its session, less and less often, and ends it.
import type { SequencedChunk, StreamManager } from '@helix-agents/core/runtime'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import type { RunServices } from '../../src/ports.ts'
import { ActiveRuns } from '../../src/run/active-runs.ts'
import { readStream } from '../../src/stream/read-stream.ts'
import { SessionWatch } from '../../src/stream/session-watch.ts'
import { settle } from '../harness.ts'

const err = new Error('the stream is away')
const ofRun = { sessionId: 's', runId: 'r' }

/** A session whose run has ended at `endedAt`, and no process that would end its stream. */
async function setup(endedAt = 0, status: 'completed' | 'running' = 'completed') {
  const clock = new ManualClock(0)
  const [store, streams] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const logger = new RecordingLogger()
  const active = new ActiveRuns()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  await store.beginRun({ ...ofRun, leaseMs: 1000, now: 0 })
  const writer = await streams.startRun('s', 'r', 'a')
  if (status !== 'running') await store.endRun({ ...ofRun, now: endedAt, status, output: 'x' })
  const services = { stateStore: store, streamManager: streams, clock, logger, active }
  const all = services as unknown as RunServices
  const end = vi.spyOn(streams, 'endRun')
  const load = vi.spyOn(store, 'loadSession')
  const watch = new SessionWatch(all, 's')
  return { clock, store, streams, logger, active, writer, services: all, end, load, watch }
}

test.each([
  [1999, 0],
  [2000, 1],
])('a stream is ended when its session has ended for %d ms: %d times', async (now, times) => {
  const { clock, end, watch } = await setup()
  await clock.advance(now)
  await watch.check()
  expect(end).toHaveBeenCalledTimes(times)
  watch.release()
})

test('it is ended once for a run, with its last chunk, and again for the next run', async () => {
  const { clock, store, end, watch } = await setup()
  await clock.advance(2000)
  await watch.check()
  const last = { agentId: 'r', agentType: 'a', timestamp: 2000, type: 'output', output: 'x' }
  expect(end.mock.calls).toEqual([['s', 'r', last]])
  await clock.advance(30_000)
  expect(end).toHaveBeenCalledTimes(1)
  await store.beginRun({ sessionId: 's', runId: 'next', leaseMs: 1, now: clock.now() })
  await store.endRun({ sessionId: 's', runId: 'next', now: clock.now(), status: 'completed' })
  await clock.advance(32_000)
  expect(end.mock.calls.slice(1).map(([, runId]) => runId)).toEqual(['next'])
  watch.release()
})

test('the session is looked at after 2, 4, 8 and then every 16 seconds', async () => {
  const { clock, load, watch } = await setup(0, 'running')
  await watch.check()
  const times: number[] = []
  for (let seen = 1; clock.now() < 50_000; seen = load.mock.calls.length) {
    await clock.advance(500)
    if (load.mock.calls.length > seen) times.push(clock.now())
  }
  expect(times).toEqual([2000, 6000, 14_000, 30_000, 46_000])
  watch.release()
  expect(clock.pendingTimers).toBe(0)
})

test('a session that is not there, has not run or runs is left alone', async () => {
  const running = await setup(0, 'running')
  await running.clock.advance(5000)
  await running.watch.check()
  const gone = await setup()
  await gone.clock.advance(5000)
  await gone.store.deleteSession('s')
  await gone.watch.check()
  const fresh = await setup()
  await fresh.clock.advance(5000)
  await fresh.store.createSession({
    sessionId: 'new',
    agentType: 'a',
    customState: undefined,
    now: 0,
  })
  await new SessionWatch(fresh.services, 'new').check()
  const own = await setup()
  await own.clock.advance(5000)
  own.active.set({ sessionId: 's', runId: 'r' } as never)
  await own.watch.check()
  expect(own.load).not.toHaveBeenCalled()
  for (const { end, logger } of [running, gone, fresh, own]) {
    expect(end).not.toHaveBeenCalled()
    expect(logger.lines).toEqual([])
  }
})

test('one that was released looks no more: before a look, during one and after it', async () => {
  const before = await setup()
  before.watch.release()
  await before.watch.check()
  expect(before.load).not.toHaveBeenCalled()
  const during = await setup()
  const checking = during.watch.check()
  during.watch.release()
  await checking
  expect(during.clock.pendingTimers).toBe(0)
  const after = await setup()
  await after.watch.check()
  expect(after.clock.pendingTimers).toBe(1)
  after.watch.release()
  expect(after.clock.pendingTimers).toBe(0)
})

test('what fails is logged, and tried again', async () => {
  const { clock, end, load, logger, watch } = await setup()
  await clock.advance(2000)
  load.mockRejectedValueOnce(err)
  await watch.check()
  end.mockRejectedValueOnce(err)
  await clock.advance(2000)
  await clock.advance(4000)
  const line = { level: 'warn', message: 'abandoned stream not ended' }
  const told = { ...line, fields: { err, sessionId: 's' } }
  expect(logger.lines).toEqual([told, told])
  expect(end).toHaveBeenCalledTimes(2)
  watch.release()
})

test('a reader that gets nothing of a stream that cannot be ended is let go at the second look', async () => {
  const { clock, end, watch } = await setup()
  end.mockRejectedValue(err)
  await clock.advance(2000)
  watch.wait()
  await watch.check()
  expect(watch.signal.aborted).toBe(false)
  await clock.advance(2000)
  expect(watch.signal.aborted).toBe(true)
  expect(clock.pendingTimers).toBe(0)
})

test('a reader that gets something, or does not wait, is not let go', async () => {
  const { clock, end, watch } = await setup()
  end.mockRejectedValue(err)
  await clock.advance(2000)
  await watch.check()
  for (const ms of [2000, 4000]) {
    const received = watch.wait()
    received()
    watch.wait()
    await clock.advance(ms)
    expect(watch.signal.aborted).toBe(false)
  }
  watch.wait()()
  for (let look = 0; look < 3; look += 1) await clock.advance(16_000)
  expect(watch.signal.aborted).toBe(false)
  watch.release()
})

/** A stream whose chunks come when a test says so. */
function streamOf(streams: InMemoryStreamManager) {
  const pulls: PromiseWithResolvers<IteratorResult<SequencedChunk>>[] = []
  const ended = vi.fn<() => Promise<void>>(async () => {})
  const reads: unknown[] = []
  const read: StreamManager['read'] = async (_, options) => {
    reads.push(options)
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const pull = Promise.withResolvers<IteratorResult<SequencedChunk>>()
          pulls.push(pull)
          return pull.promise
        },
        return: async () => {
          await ended()
          return { done: true, value: undefined }
        },
      }),
    }
  }
  streams.read = read
  return { pulls, ended, reads }
}

test('a reader looks first, and its watch ends with it: at the end, on an error, on a break', async () => {
  const { clock, streams, services, load } = await setup(0, 'running')
  const { pulls, ended } = streamOf(streams)
  const reader = () => readStream(services, 's')[Symbol.asyncIterator]()
  const one = reader()
  const first = one.next()
  await settle()
  expect(load).toHaveBeenCalledTimes(1)
  expect(clock.pendingTimers).toBe(1)
  pulls[0]!.resolve({ done: true, value: undefined })
  expect(await first).toEqual({ done: true, value: undefined })
  expect(clock.pendingTimers).toBe(0)
  const two = reader()
  const failing = two.next()
  await settle()
  pulls[1]!.reject(err)
  await expect(failing).rejects.toThrow(err)
  expect(clock.pendingTimers).toBe(0)
  const three = reader()
  const waiting = three.next()
  await settle()
  const hold = Promise.withResolvers<void>()
  ended.mockReturnValueOnce(hold.promise)
  let isOver = false
  const over = three.return!().then((end) => ((isOver = true), end))
  await settle()
  expect([isOver, clock.pendingTimers]).toEqual([false, 0])
  hold.resolve()
  expect(await over).toEqual({ done: true, value: undefined })
  pulls[2]!.resolve({ done: true, value: undefined })
  await waiting
  const unread = reader()
  expect(await unread.return!()).toEqual({ done: true, value: undefined })
})

test('two that ask a reader at once have one watch, and get one chunk each', async () => {
  const { clock, streams, services } = await setup(0, 'running')
  const { pulls } = streamOf(streams)
  const one = readStream(services, 's')[Symbol.asyncIterator]()
  const both = [one.next(), one.next()]
  await settle()
  expect(clock.pendingTimers).toBe(1)
  for (const [index, pull] of pulls.entries()) {
    pull.resolve({ done: false, value: { sequence: index } as SequencedChunk })
  }
  const chunks = await Promise.all(both)
  expect(chunks.map(({ value }) => (value as SequencedChunk).sequence)).toEqual([0, 1])
  await one.return!()
  expect(clock.pendingTimers).toBe(0)
})

test('a stream that is not there has no chunks; the options of its reader are passed on', async () => {
  const { clock, streams, services } = await setup(0, 'running')
  const { reads } = streamOf(streams)
  const own = new AbortController()
  const stream = readStream(services, 's', { fromSequence: 3, signal: own.signal })
  void stream[Symbol.asyncIterator]().next()
  await settle()
  expect(reads).toEqual([{ fromSequence: 3, signal: expect.any(AbortSignal) }])
  own.abort()
  expect((reads[0] as { signal: AbortSignal }).signal.aborted).toBe(true)
  streams.read = async () => null
  const before = clock.pendingTimers
  expect(await readStream(services, 's')[Symbol.asyncIterator]().next()).toEqual({
    done: true,
    value: undefined,
  })
  expect(clock.pendingTimers).toBe(before)
})
