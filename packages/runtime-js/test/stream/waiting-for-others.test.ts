// Who waits for the run of another process reads its stream on, and looks at its lease.
import { defineAgent } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import { createHarness, settle } from '../harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const LEASE_MS = 1000
const ofRun = { sessionId: 's', runId: 'r' }

async function setup() {
  const clock = new ManualClock()
  const [store, streams] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const now = clock.now()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now })
  await store.beginRun({ ...ofRun, leaseMs: LEASE_MS, now })
  const writer = await streams.startRun('s', 'r', 'a')
  const { executor } = createHarness([], { store, streams, clock })
  const handle = (await executor.getHandle(agent, 's'))!
  const say = (delta: string) =>
    writer.write({ type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp: now })
  return { clock, store, streams, executor, handle, say }
}

test('a stream that ends before its run is read on from where it ended', async () => {
  const { clock, store, streams, handle, say } = await setup()
  const read = vi.spyOn(streams, 'read')
  const result = handle.result()
  await say('one')
  await settle()
  await streams.endRun('s', 'r')
  await settle()
  // The session still runs: the store hears of the end a moment later.
  await clock.advance(99)
  expect(read).toHaveBeenCalledTimes(1)
  await store.endRun({ ...ofRun, now: clock.now(), status: 'completed', output: 'x' })
  await clock.advance(1)
  expect(await result).toMatchObject({ status: 'completed', output: 'x' })
})

test('chunks that were read are not read again', async () => {
  const { clock, streams, handle, say, store } = await setup()
  await say('one')
  await say('two')
  const from: unknown[] = []
  const read = streams.read.bind(streams)
  streams.read = (id, options) => {
    from.push(options?.fromSequence)
    return read(id, options)
  }
  const result = handle.result()
  await settle()
  await streams.endRun('s', 'r')
  await settle()
  await clock.advance(100)
  await settle()
  const last = (await read('s'))![Symbol.asyncIterator]()
  const { value } = await last.next()
  expect(from).toEqual([undefined, value.sequence + 2])
  await store.endRun({ ...ofRun, now: clock.now(), status: 'completed' })
  await clock.advance(LEASE_MS)
  expect(await result).toMatchObject({ status: 'completed' })
})

test.each([
  [LEASE_MS - 1, false],
  [LEASE_MS, true],
])('a run whose lease ended %d ms ago is waited for: given up %s', async (ms, isGivenUp) => {
  const { clock, handle } = await setup()
  let isOver = false
  const result = handle.result().catch((error: { code: string }) => {
    isOver = true
    return error.code
  })
  await settle()
  await clock.advance(ms)
  await settle()
  expect(isOver).toBe(isGivenUp)
  await clock.advance(LEASE_MS)
  expect(await result).toBe('already-running')
})

test('a lease that is renewed meanwhile is waited for anew', async () => {
  const { clock, store, handle } = await setup()
  const result = handle.result().catch((error: { code: string }) => error.code)
  await settle()
  await clock.advance(500)
  await store.renewRun({ ...ofRun, leaseMs: LEASE_MS, now: clock.now() })
  const load = vi.spyOn(store, 'loadSession')
  await clock.advance(500)
  expect(load).toHaveBeenCalledTimes(1)
  await clock.advance(499)
  expect(load).toHaveBeenCalledTimes(1)
  await clock.advance(1)
  await settle()
  expect(await result).toBe('already-running')
})

test.each([
  [LEASE_MS - 1, 'interrupt'],
  [LEASE_MS, undefined],
])(
  'a run of another process is told to stop while its lease lasts: after %d ms %s',
  async (ms, stop) => {
    const { clock, store, handle } = await setup()
    await clock.advance(ms)
    const interrupting = handle.interrupt().catch((error: { code: string }) => error.code)
    expect(await interrupting).toBe(stop === undefined ? 'not-running' : undefined)
    expect((await store.loadSignals('s')).stop).toBe(stop)
  },
)

test.each([
  [LEASE_MS - 1, 'another process holds it'],
  [LEASE_MS, 'it has no message yet'],
])('after %d ms a session says: %s', async (ms, reason) => {
  const { clock, store, executor } = await setup()
  await clock.advance(ms)
  expect(await executor.canResume(agent, 's')).toEqual({
    canResume: false,
    reason,
    state: await store.loadSession('s'),
  })
})

test('a session that nobody holds can be resumed at the beginning of time', async () => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([], { store, clock: new ManualClock(0) })
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  expect(await executor.canResume(agent, 's')).toMatchObject({ reason: 'it has no message yet' })
  await store.beginRun({ ...ofRun, leaseMs: 1, now: 0 })
  await store.appendMessages({ ...ofRun, now: 0, messages: [{ role: 'user', content: 'x' }] })
  await store.endRun({ ...ofRun, now: 0, status: 'interrupted' })
  const state = await store.loadSession('s')
  expect(await executor.canResume(agent, 's')).toEqual({ canResume: true, state })
  expect(await executor.canResume(agent, 'none')).toEqual({
    canResume: false,
    reason: 'there is no such session',
  })
})
