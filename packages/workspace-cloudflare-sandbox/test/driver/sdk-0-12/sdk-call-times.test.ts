// When calls are made, repeated and given up, to the millisecond.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import type { SdkDriverOptions } from '../../../src/driver/sdk-0-12/create-sdk-driver.ts'
import { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import type { SandboxStub } from '../../../src/driver/sdk-0-12/stub.ts'
import { connected, container } from './driver-on.ts'

const never = (): Promise<never> => new Promise(() => {})
const done = async (): Promise<string> => 'done'
const CALL = { deadlineMs: 60_000, isRepeatable: false }
const REPEATABLE = { ...CALL, isRepeatable: true }
const WARM_MS = 30_000

/** Calls to a container of this state, with what was asked of it. */
function callsTo(status = 'healthy') {
  const clock = new ManualClock()
  const seen = { stubs: 0, probes: 0 }
  const state = { status, lastChange: 0 }
  const connect = async (): Promise<SandboxStub> => {
    seen.stubs += 1
    const getState = async (): Promise<typeof state> => {
      seen.probes += 1
      return state
    }
    return { getState } as unknown as SandboxStub
  }
  const liveness = { intervalMs: 5000, silenceMs: 10_000 }
  const calls = new SdkCalls({ connect, clock, liveness, startAllowanceMs: 150_000 })
  return { calls, clock, seen, state }
}

/** How a promise has ended by now. */
function endOf(promise: Promise<unknown>): { now: unknown } {
  const end: { now: unknown } = { now: 'pending' }
  promise.then(
    (value) => (end.now = value),
    (error: unknown) => (end.now = error),
  )
  return end
}

const asking = (context: object): Error =>
  Object.assign(new Error('x'), {
    errorResponse: { code: 'CONTAINER_UNAVAILABLE', context },
  })

describe('a stub', () => {
  it('is used again until a call fails, or it is dropped', async () => {
    const { calls, seen } = callsTo()
    await calls.make(done, CALL)
    expect(await calls.make(done, CALL)).toBe('done')
    expect(seen.stubs).toBe(1)
    await expect(calls.make(() => Promise.reject(new Error('x')), CALL)).rejects.toThrow('failed')
    await calls.make(done, CALL)
    expect(seen.stubs).toBe(2)
    calls.forget()
    await calls.make(done, CALL)
    expect(seen).toEqual({ stubs: 3, probes: 0 })
  })
})

describe('a call that must not run twice', () => {
  it.each([
    ['stopped', WARM_MS, 1],
    ['stopped_with_code', WARM_MS, 1],
    ['stopped', WARM_MS - 1, 0],
  ])('to a container that is %s, %d ms after the last one', async (status, idleMs, probes) => {
    const { calls, clock, seen } = callsTo(status)
    await calls.make(done, CALL)
    await clock.advance(idleMs)
    let made = 0
    const ended = endOf(calls.make(async () => (made += 1), CALL))
    await clock.advance(0)
    expect([made, seen.probes]).toEqual([1 - probes, probes])
    expect(clock.pendingTimers).toBe(0)
    const asleep: unknown = expect.objectContaining({
      code: 'interrupted',
      admitted: 'no',
      reason: 'asleep',
      message: 'the container was stopped before the operation',
    })
    expect(ended.now).toEqual(probes === 0 ? 1 : asleep)
    expect(seen.stubs).toBe(1)
    await calls.make(done, REPEATABLE)
    expect(seen).toEqual({ stubs: 1 + probes, probes })
  })
  it('is made when the container runs', async () => {
    const { calls, clock, seen } = callsTo('running')
    await calls.make(done, CALL)
    await clock.advance(WARM_MS)
    expect(await calls.make(done, CALL)).toBe('done')
    expect(seen).toEqual({ stubs: 1, probes: 1 })
  })
})

it('a call that may run twice starts a container that sleeps', async () => {
  const { calls, clock, seen } = callsTo('stopped')
  await calls.make(done, CALL)
  await clock.advance(WARM_MS)
  expect(await calls.make(done, REPEATABLE)).toBe('done')
  expect(seen.probes).toBe(0)
})

describe('a pending call', () => {
  it.each([
    [WARM_MS - 1, true],
    [WARM_MS, false],
  ])('%d ms after the last one is ended by a stop: %s', async (idleMs, isEnded) => {
    const { calls, clock, state } = callsTo()
    await calls.make(done, CALL)
    await clock.advance(idleMs)
    const ended = endOf(calls.make(never, REPEATABLE))
    Object.assign(state, { status: 'stopped', lastChange: clock.now() + 1 })
    await clock.advance(14_999)
    expect(ended.now).toBe('pending')
    await clock.advance(1)
    const interrupted: unknown = expect.objectContaining({ code: 'interrupted' })
    expect(ended.now).toEqual(isEnded ? interrupted : 'pending')
  })
  it('ends at its deadline where the container lives', async () => {
    const { calls, clock } = callsTo()
    const ended = endOf(calls.make(never, CALL))
    await clock.advance(59_999)
    expect(ended.now).toBe('pending')
    await clock.advance(1)
    const message = 'the sandbox did not answer in time'
    expect(ended.now).toMatchObject({ code: 'interrupted', admitted: 'unknown', message })
    expect(clock.pendingTimers).toBe(0)
  })
  it('waits longer for a container that has not started', async () => {
    const { calls, clock } = callsTo('running')
    const ended = endOf(calls.make(never, CALL))
    await clock.advance(209_999)
    expect(ended.now).toBe('pending')
    await clock.advance(1)
    expect(ended.now).toMatchObject({ message: 'the sandbox did not answer in time' })
    expect(clock.pendingTimers).toBe(0)
  })
  it('that ends leaves no timer behind, also after its deadline', async () => {
    for (const ms of [0, 60_000]) {
      const { calls, clock } = callsTo('running')
      const answer = Promise.withResolvers<string>()
      const ended = endOf(calls.make(() => answer.promise, CALL))
      await clock.advance(ms)
      expect(clock.pendingTimers).toBe(2)
      answer.resolve('done')
      await clock.advance(0)
      expect([ended.now, clock.pendingTimers]).toEqual(['done', 0])
    }
  })
})

describe('a call that is made again', () => {
  it.each([
    [undefined, 0],
    [0, 0],
    [-1, 0],
    [2999, 2999],
    [3001, 3000],
  ])('after a delay of %s ms waits %d ms', async (retryAfterMs, waitsMs) => {
    const { calls, clock } = callsTo()
    let made = 0
    const call = async (): Promise<number> => {
      made += 1
      if (made === 1) throw asking({ reason: 'container_starting', retryAfterMs })
      return made
    }
    const ended = endOf(calls.make(call, CALL))
    const until = waitsMs === 0 ? Promise.resolve() : clock.advance(waitsMs - 1)
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    await until
    expect(made).toBe(waitsMs === 0 ? 2 : 1)
    await clock.advance(1)
    expect(ended.now).toBe(2)
  })
  it('and is given up while it waits is not made', async () => {
    const { calls, clock } = callsTo()
    const abort = new AbortController()
    let made = 0
    const call = (): Promise<never> => {
      made += 1
      return Promise.reject(asking({ retryAfterMs: 2000 }))
    }
    const ended = endOf(calls.make(call, { ...CALL, signal: abort.signal }))
    await clock.advance(1000)
    abort.abort('enough')
    await clock.advance(5000)
    expect([made, ended.now]).toEqual([1, 'enough'])
  })
  it('and is given up then ends with the reason of its signal', async () => {
    const { calls, clock } = callsTo()
    const abort = new AbortController()
    let made = 0
    const call = (): Promise<never> => {
      made += 1
      return made === 1 ? Promise.reject(asking({})) : never()
    }
    const ended = endOf(calls.make(call, { ...CALL, signal: abort.signal }))
    await clock.advance(0)
    abort.abort('enough')
    await clock.advance(0)
    expect([made, ended.now, clock.pendingTimers]).toEqual([2, 'enough', 0])
  })
  it('and fails otherwise fails with that', async () => {
    const { calls } = callsTo()
    let made = 0
    const call = (): Promise<never> => {
      made += 1
      const denied = Object.assign(new Error('x'), { code: 'PERMISSION_DENIED' })
      return Promise.reject(made === 1 ? asking({}) : denied)
    }
    await expect(calls.make(call, CALL)).rejects.toMatchObject({ code: 'denied', admitted: 'yes' })
  })
})

/** A mount that gets no answer. */
function mounting(getState: () => unknown, more: Partial<SdkDriverOptions>) {
  const clock = new ManualClock()
  const on = container({ mountBucket: never, getState })
  const end: { error?: unknown } = {}
  const { driver } = connected(on, { clock, ...more })
  driver.mount({ bucket: 'B', path: '/mnt' }).catch((error: unknown) => (end.error = error))
  return { asked: on.asked, clock, end }
}

describe('a driver whose call gets no answer', () => {
  it.each([
    [{}, 5000, 210_000],
    [{ liveness: { intervalMs: 7000, silenceMs: 9 }, startAllowanceMs: 1000 }, 7000, 61_000],
  ])('with %j is watched from %d ms on, and ends after %d ms', async (more, probeMs, endMs) => {
    const starting = { status: 'running', lastChange: 0 }
    const { asked, clock, end } = mounting(() => starting, more)
    await clock.advance(probeMs - 1)
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect(asked.at(-1)).toEqual(['getState'])
    await clock.advance(endMs - probeMs - 1)
    expect(end.error).toBeUndefined()
    await clock.advance(1)
    expect(end.error).toMatchObject({ message: 'the sandbox did not answer in time' })
  })
  it.each([
    [{}, 15_000],
    [{ liveness: { intervalMs: 7000, silenceMs: 9 } }, 7009],
  ])('with %j is dead after %d ms of silence', async (more, ms) => {
    const { clock, end } = mounting(never, more)
    await clock.advance(ms - 1)
    expect(end.error).toBeUndefined()
    await clock.advance(1)
    expect(end.error).toMatchObject({ message: 'the container went away during the operation' })
  })
})
