// What ends an attempt: the run, silence, and its own time.
import { ManualClock } from '@helix-agents/core/testing'
import { beforeEach, expect, test } from 'vitest'
import { parseOptions } from '../src/adapter-options.ts'
import { AttemptSignal } from '../src/attempt-signal.ts'

let clock: ManualClock
let stop: AbortController
beforeEach(() => {
  clock = new ManualClock()
  stop = new AbortController()
})

const attempt = (attemptTimeoutMs?: number) =>
  new AttemptSignal(
    stop.signal,
    parseOptions({
      clock,
      idleTimeoutMs: 100,
      ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
    }),
  )

const waiting = new Promise<never>(() => {})

/** How a wait in it ends; it goes on unless it was stopped. */
async function endOf(signal: AttemptSignal): Promise<unknown> {
  return signal
    .race(Promise.race([waiting, clock.sleep(0).then(() => 'goes on')]))
    .catch((error: unknown) => error)
}

async function after(signal: AttemptSignal, ms: number): Promise<unknown> {
  await clock.advance(ms)
  const end = endOf(signal)
  await clock.advance(0)
  return end
}

test('it ends when nothing is said for so long', async () => {
  const signal = attempt()
  expect(await after(signal, 99)).toBe('goes on')
  expect(signal.timedOut).toBeUndefined()
  expect(await after(signal, 1)).toMatchObject({ code: 'timeout' })
  expect(signal.timedOut).toMatchObject({ code: 'timeout' })
  // The request itself is ended by whoever waits.
  expect(signal.signal.aborted).toBe(false)
})

test('each word gives it as long again', async () => {
  const signal = attempt()
  for (let word = 0; word < 5; word += 1) {
    expect(await after(signal, 90)).toBe('goes on')
    signal.touch()
  }
  expect(await after(signal, 99)).toBe('goes on')
  expect(await after(signal, 1)).toMatchObject({ code: 'timeout' })
})

test('it ends after its own time, however much is said', async () => {
  const signal = attempt(150)
  await clock.advance(90)
  signal.touch()
  expect(await after(signal, 59)).toBe('goes on')
  signal.touch()
  expect(await after(signal, 1)).toMatchObject({ code: 'timeout' })
})

test('it ends with the run', async () => {
  const signal = attempt()
  const reason = new Error('enough')
  stop.abort(reason)
  expect(await after(signal, 0)).toBe(reason)
  expect([signal.timedOut, signal.signal.aborted]).toEqual([undefined, false])
  signal.abort(reason)
  expect(signal.signal.reason).toBe(reason)
})

test('one that is over waits for nothing more', async () => {
  const signal = attempt()
  signal.release()
  expect(clock.pendingTimers).toBe(0)
  stop.abort(new Error('later'))
  expect(await after(signal, 1000)).toBe('goes on')
  expect(signal.timedOut).toBeUndefined()
})

test('a wait gives what it was for', async () => {
  expect(await attempt().race(Promise.resolve('answer'))).toBe('answer')
})
