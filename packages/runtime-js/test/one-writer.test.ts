import { defineAgent, StateStoreError } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import {
  calls,
  createHarness,
  say,
  settle,
  storedMessages,
  textOfResult,
  typesOf,
} from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const stuck = () => new Promise<never>(() => {})

test('a session that runs refuses a second run, here and in another process', async () => {
  const harness = createHarness([stuck])
  await harness.executor.execute(agent, 'x', { sessionId: 's' })
  const code = { code: 'already-running' }
  await expect(harness.executor.execute(agent, 'y', { sessionId: 's' })).rejects.toMatchObject(code)
  await expect(harness.executor.resume(agent, 's')).rejects.toMatchObject(code)
  const other = harness.next([say('no')])
  await expect(other.executor.execute(agent, 'y', { sessionId: 's' })).rejects.toMatchObject(code)
  await expect((await other.executor.getHandle(agent, 's'))!.resume()).rejects.toMatchObject(code)
})

test('the next turn may start as soon as the stream of the last one has ended', async () => {
  const { executor } = createHarness([say('one'), say('two'), say('three')])
  const first = await executor.execute(agent, 'x', { sessionId: 's' })
  for await (const chunk of first.stream()) expect(chunk.sequence).toBeGreaterThan(0)
  expect(await executor.canResume(agent, 's')).toMatchObject({ reason: 'it is completed' })
  const second = await executor.execute(agent, 'y', { sessionId: 's' })
  const texts: unknown[] = []
  for await (const chunk of second.stream()) if (chunk.type === 'output') texts.push(chunk.output)
  expect(texts).toEqual(['two'])
  const third = executor.resume(agent, 's', { message: 'z' })
  const fourth = executor.execute(agent, 'z', { sessionId: 's' })
  await expect(fourth).rejects.toMatchObject({ code: 'already-running' })
  expect(await (await third).result()).toMatchObject({ output: 'three' })
  expect(await second.result()).toMatchObject({ output: 'two' })
})

test('an empty session id is refused: it is that of a variable which was not set', async () => {
  const { executor } = createHarness([])
  await expect(executor.execute(agent, 'x', { sessionId: '' })).rejects.toThrow(RangeError)
})

test('of two that start at once, one wins', async () => {
  const harness = createHarness([stuck, stuck])
  const starts = [1, 2].map(() => harness.executor.execute(agent, 'x', { sessionId: 's' }))
  const settled = await Promise.allSettled(starts)
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('a living run keeps its claim, a dead one loses it', async () => {
  const clock = new ManualClock()
  const harness = createHarness([stuck], { clock, leaseMs: 30_000 })
  await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await clock.advance(100_000)
  const other = harness.next([say('mine')])
  const second = () => other.executor.execute(agent, 'y', { sessionId: 's' })
  await expect(second()).rejects.toMatchObject({ code: 'already-running' })

  const deadClock = new ManualClock(clock.now())
  const dead = createHarness([stuck], { store: harness.store, clock: deadClock })
  await dead.executor.execute(agent, 'x', { sessionId: 'dead' })
  await clock.advance(60_001)
  const rescued = await harness.next([say('rescued')]).executor.resume(agent, 'dead')
  expect(await rescued.result()).toMatchObject({ status: 'completed', output: 'rescued' })
})

test('a session that another process holds is not told as resumable', async () => {
  const clock = new ManualClock()
  const harness = createHarness([stuck], { clock, leaseMs: 3_000 })
  await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  const { leaseUntil } = (await harness.store.loadSession('s'))!
  // Each process goes by its own clock, as it does when it resumes.
  const at = (now: number) => harness.next([say('mine')], { clock: new ManualClock(now) }).executor
  const early = at(leaseUntil! - 1)
  expect(await early.canResume(agent, 's')).toMatchObject({
    canResume: false,
    state: { leaseUntil },
  })
  await expect(early.resume(agent, 's')).rejects.toMatchObject({ code: 'already-running' })
  const late = at(leaseUntil!)
  expect(await late.canResume(agent, 's')).toMatchObject({ canResume: true })
  expect(await (await late.resume(agent, 's')).result()).toMatchObject({ output: 'mine' })
})

test('a session that is held without a run is not told as resumable', async () => {
  const clock = new ManualClock()
  const harness = createHarness([say('no', false), stuck], { clock })
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.interrupt()
  expect(await handle.result()).toMatchObject({ status: 'interrupted' })
  const held = { sessionId: 's', runId: 'h', now: clock.now() }
  await harness.store.beginRun({ ...held, leaseMs: 1_000, hold: true })
  expect(await harness.executor.canResume(agent, 's')).toMatchObject({ canResume: false })
  await harness.store.endRun({ ...held, status: 'interrupted' })
  expect(await harness.executor.canResume(agent, 's')).toMatchObject({ canResume: true })
})

test('a run that lost its claim stops and writes nothing more', async () => {
  const clock = new ManualClock()
  let signal: AbortSignal | undefined
  const harness = createHarness(
    [
      (input) => {
        signal = input.abortSignal
        return stuck()
      },
    ],
    { clock, leaseMs: 3_000 },
  )
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  // Another process thinks that this one is dead.
  await harness.store.beginRun({
    sessionId: 's',
    runId: 'other',
    leaseMs: 1_000_000,
    now: clock.now() + 10_000,
  })
  await clock.advance(1_000)
  expect(signal?.aborted).toBe(true)
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  expect(await harness.store.loadSession('s')).toMatchObject({ status: 'running', runId: 'other' })
})

test('a run that lost its claim leaves the workspaces to its successor', async () => {
  const clock = new ManualClock()
  const provider = new InMemoryWorkspaceProvider()
  const boxed = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
  })
  const write = calls(['workspace__box__write_file', { path: '/a', content: 'still there' }])
  const harness = createHarness([write, stuck], {
    clock,
    leaseMs: 3_000,
    workspaceProviders: new Map<string, WorkspaceProvider>([['in-memory', provider]]),
  })
  const handle = await harness.executor.execute(boxed, 'x', { sessionId: 's' })
  await settle()
  const run = { sessionId: 's', runId: 'other' }
  await harness.store.beginRun({ ...run, leaseMs: 1_000, now: clock.now() + 10_000 })
  await clock.advance(1_000)
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  await harness.store.endRun({ ...run, status: 'interrupted', now: clock.now() })

  const read = calls(['workspace__box__read_file', { path: '/a' }])
  const next = harness.next([read, say('ok')])
  await (await next.executor.resume(boxed, 's')).result()
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(textOfResult(results.at(-1))).toContain('still there')
})

test('a renewal that fails for a moment does not stop the run', async () => {
  const clock = new ManualClock()
  const harness = createHarness([stuck], { clock, leaseMs: 3_000 })
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  const { store } = harness
  const renew = store.renewRun.bind(store)
  Object.assign(store, {
    renewRun: () => Promise.reject(new StateStoreError('unavailable', 's', 'try later')),
  } satisfies Partial<SessionStateStore>)
  await clock.advance(1_000)
  Object.assign(store, { renewRun: renew })
  await clock.advance(10_000)
  expect(harness.logger.with('lease renewal failed')).toHaveLength(1)
  await handle.abort()
  expect((await handle.result()).status).toBe('aborted')
})

test('a session belongs to its agent', async () => {
  const harness = createHarness([say('ok')])
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
  const code = { code: 'other-agent' }
  await expect(harness.executor.execute(other, 'x', { sessionId: 's' })).rejects.toMatchObject(code)
  await expect(harness.executor.resume(other, 's')).rejects.toMatchObject(code)
  await expect(harness.executor.branch(other, { fromSessionId: 's' })).rejects.toMatchObject(code)
  expect(await harness.executor.getHandle(other, 's')).toBeNull()
  expect(await harness.executor.canResume(other, 's')).toMatchObject({ canResume: false })
})

test('a handle of another process waits for the end of the run', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const harness = createHarness([() => promise.then(() => say('late'))])
  await harness.executor.execute(agent, 'x', { sessionId: 's' })
  const handle = await harness.next([]).executor.getHandle(agent, 's')
  const result = handle!.result()
  await settle()
  resolve()
  expect(await result).toMatchObject({ status: 'completed', output: 'late' })
  expect(await harness.executor.getHandle(agent, 'unknown')).toBeNull()
})

test('a handle of another process does not wait for one that died', async () => {
  const clock = new ManualClock()
  const harness = createHarness([stuck], { clock, leaseMs: 3_000 })
  await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  const renewed = await harness.store.loadSession('s')
  harness.store.renewRun = stuck
  const handle = await harness.next([]).executor.getHandle(agent, 's')
  const result = handle!.result().catch((error: unknown) => error)
  await settle()
  await clock.advance(renewed!.leaseUntil! - clock.now())
  expect(await result).toMatchObject({ code: 'already-running' })
})

test.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 31])('a lease of %s ms is refused', (leaseMs) => {
  expect(() => createHarness([], { leaseMs })).toThrow(RangeError)
})

test('a stream that nobody ends is ended when its session is over', async () => {
  const clock = new ManualClock()
  const harness = createHarness([say('done')], { clock, leaseMs: 3_000 })
  const end = harness.streams.endRun.bind(harness.streams)
  harness.streams.endRun = () => Promise.reject(new Error('died here'))
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.result()
  harness.streams.endRun = end
  const read = typesOf(handle)
  await clock.advance(1_999)
  let isEnded = false
  void read.then(() => (isEnded = true))
  await settle()
  expect(isEnded).toBe(false)
  await clock.advance(1)
  expect(await read).toEqual(['text_delta', 'output'])
  expect(await typesOf(handle)).toEqual(['text_delta', 'output'])
})
