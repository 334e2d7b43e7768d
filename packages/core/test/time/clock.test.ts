import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '@helix-agents/core'

const LONGEST_TIMER_MS = 2_147_483_647

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a timer may be longer than those of JavaScript', () => {
  const rung = vi.fn<() => void>()
  systemClock.setTimer(2 * LONGEST_TIMER_MS + 5, rung)
  vi.advanceTimersByTime(2 * LONGEST_TIMER_MS + 4)
  expect(rung).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(rung).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('an endless timer never rings, and can be cancelled', () => {
  const rung = vi.fn<() => void>()
  const cancel = systemClock.setTimer(Number.POSITIVE_INFINITY, rung)
  vi.advanceTimersByTime(3 * LONGEST_TIMER_MS)
  expect(rung).not.toHaveBeenCalled()
  cancel()
  expect(vi.getTimerCount()).toBe(0)
})

test('an endless sleep ends with its signal', async () => {
  const abort = new AbortController()
  const sleep = systemClock.sleep(Number.POSITIVE_INFINITY, abort.signal)
  vi.advanceTimersByTime(2 * LONGEST_TIMER_MS)
  abort.abort('enough')
  await expect(sleep).rejects.toBe('enough')
  expect(vi.getTimerCount()).toBe(0)
})

test('a timer keeps its process alive only when it is asked to', () => {
  vi.useRealTimers()
  const started = vi.spyOn(globalThis, 'setTimeout')
  const hasRef = (): unknown => {
    const timer: unknown = started.mock.results.at(-1)?.value
    if (typeof timer !== 'object' || timer === null || !('hasRef' in timer)) return undefined
    return typeof timer.hasRef === 'function' ? timer.hasRef() : undefined
  }
  const cancels = [systemClock.setTimer(60_000, () => {})]
  expect(hasRef()).toBe(false)
  cancels.push(systemClock.setTimer(60_000, () => {}, { keepsProcessAlive: true }))
  expect(hasRef()).toBe(true)
  for (const cancel of cancels) cancel()
})
