// The time of one tool call: what ends it, how long it may go on after that, and what it leaves.
import { getEventListeners } from 'node:events'
import { defineTool } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CallDeadline } from '../../src/call/call-deadline.ts'
import { settle } from '../harness.ts'

const GRACE_MS = 5000
const stopped = new DOMException('the run was stopped', 'AbortError')
const never = () => new Promise<never>(() => {})

function deadlineOf(timeoutMs?: number) {
  const clock = new ManualClock()
  const timers: unknown[] = []
  const setTimer = clock.setTimer.bind(clock)
  clock.setTimer = (ms, callback, ...rest: unknown[]) => {
    timers.push([ms, ...rest])
    return setTimer(ms, callback)
  }
  const run = new AbortController()
  const tool = defineTool({
    name: 'slow',
    description: '',
    inputSchema: z.object({}),
    execute: () => '',
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  const deadline = new CallDeadline(tool, run.signal, clock)
  const isFree = () =>
    clock.pendingTimers === 0 && getEventListeners(run.signal, 'abort').length === 0
  return { clock, timers, run, deadline, isFree }
}

/** How some work has ended, as far as it has. */
function watch(work: Promise<unknown>) {
  const end: { now?: unknown } = {}
  void work.then(
    (value) => (end.now = value),
    (error: unknown) => (end.now = error),
  )
  return end
}

const timedOut = {
  code: 'tool-timeout',
  message: 'slow did not end within 100 ms',
  hint: 'Ask for less at once.',
}

describe('without a time of its own', () => {
  test('a call has the signal of its run, and leaves nothing there', async () => {
    const { deadline, run, timers, isFree } = deadlineOf()
    expect(deadline.signal).toBe(run.signal)
    expect(await deadline.settle(Promise.resolve('done'))).toBe('done')
    expect([timers, isFree()]).toEqual([[], true])
  })

  test('it may return what it has for five seconds after its run was stopped', async () => {
    const { deadline, run, clock, timers, isFree } = deadlineOf()
    const end = watch(deadline.settle(never()))
    run.abort(stopped)
    await clock.advance(GRACE_MS - 1)
    expect(end.now).toBeUndefined()
    await clock.advance(1)
    expect(end.now).toBe(stopped)
    expect(timers).toEqual([[GRACE_MS, { keepsProcessAlive: true }]])
    expect(isFree()).toBe(true)
  })

  test('also when it begins after that', async () => {
    const { deadline, run, clock, isFree } = deadlineOf()
    run.abort(stopped)
    const { promise, resolve } = Promise.withResolvers<string>()
    const end = watch(deadline.settle(promise))
    await clock.advance(GRACE_MS - 1)
    resolve('half of it')
    await settle()
    expect([end.now, isFree()]).toEqual(['half of it', true])
    const late = watch(deadlineOf().deadline.settle(Promise.reject(stopped)))
    await settle()
    expect(late.now).toBe(stopped)
  })
})

describe('with a time of its own', () => {
  test('a call that ends in time is what it is, and leaves nothing', async () => {
    const { deadline, run, timers, isFree, clock } = deadlineOf(100)
    expect(deadline.signal).not.toBe(run.signal)
    expect(timers).toEqual([[100, { keepsProcessAlive: true }]])
    const { promise, resolve } = Promise.withResolvers<string>()
    const end = watch(deadline.settle(promise))
    await clock.advance(99)
    expect(deadline.signal.aborted).toBe(false)
    resolve('done')
    await settle()
    expect([end.now, isFree()]).toEqual(['done', true])
  })

  test('is told that it is up, may return what it has, and has failed after five seconds', async () => {
    const { deadline, clock, isFree } = deadlineOf(100)
    const end = watch(deadline.settle(never()))
    await clock.advance(100)
    expect(deadline.signal.reason).toMatchObject({
      name: 'TimeoutError',
      message: 'the time of the tool is up',
    })
    await clock.advance(GRACE_MS - 1)
    expect(end.now).toBeUndefined()
    await clock.advance(1)
    expect(end.now).toMatchObject({ ...timedOut, cause: deadline.signal.reason })
    expect(isFree()).toBe(true)
    const other = deadlineOf(100)
    const { promise, resolve } = Promise.withResolvers<string>()
    const half = watch(other.deadline.settle(promise))
    await other.clock.advance(101)
    resolve('half of it')
    await settle()
    expect(half.now).toBe('half of it')
  })

  test.each([
    ['AbortError', true],
    ['TimeoutError', true],
    ['TypeError', false],
  ])('one that throws an %s when its time is up has run out of it: %s', async (name, isTimeout) => {
    const { deadline, clock } = deadlineOf(100)
    const error = Object.assign(new Error('x'), { name })
    const { promise, reject } = Promise.withResolvers<string>()
    const end = watch(deadline.settle(promise))
    await clock.advance(100)
    reject(error)
    await settle()
    expect(end.now).toMatchObject(isTimeout ? timedOut : { name, message: 'x' })
  })

  test('one that throws before that has failed itself', async () => {
    const { deadline } = deadlineOf(100)
    await expect(deadline.settle(Promise.reject(stopped))).rejects.toBe(stopped)
  })

  test('its run stops it as well', async () => {
    const { deadline, run, clock, isFree } = deadlineOf(100)
    const end = watch(deadline.settle(never()))
    run.abort(stopped)
    expect(deadline.signal.reason).toBe(stopped)
    await clock.advance(GRACE_MS)
    expect(end.now).toMatchObject(timedOut)
    expect(isFree()).toBe(true)
  })
})

describe('work that ends by itself', () => {
  test('has all the time that it takes after its signal', async () => {
    const { deadline, clock, isFree } = deadlineOf(100)
    const { promise, reject } = Promise.withResolvers<string>()
    const end = watch(deadline.settleFully(promise))
    await clock.advance(100_000)
    expect(end.now).toBeUndefined()
    reject(new Error('whatever'))
    await settle()
    expect(end.now).toMatchObject(timedOut)
    expect(isFree()).toBe(true)
  })

  test('is what it is when its time is not up', async () => {
    const first = deadlineOf(100)
    expect(await first.deadline.settleFully(Promise.resolve('done'))).toBe('done')
    expect(first.isFree()).toBe(true)
    const second = deadlineOf(100)
    await expect(second.deadline.settleFully(Promise.reject(stopped))).rejects.toBe(stopped)
    expect(second.isFree()).toBe(true)
  })
})
