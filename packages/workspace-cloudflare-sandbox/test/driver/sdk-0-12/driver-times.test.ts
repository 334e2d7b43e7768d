// How long a driver waits for an answer, as it is set up.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import type { SdkDriverOptions } from '../../../src/driver/sdk-0-12/create-sdk-driver.ts'
import { connected, container } from './driver-on.ts'

const never = (): Promise<never> => new Promise(() => {})

/** A mount that gets no answer. */
function mounting(getState: () => unknown, more: Partial<SdkDriverOptions>) {
  const clock = new ManualClock()
  const on = container({ mountBucket: never, getState })
  const end: { error?: unknown } = {}
  const { driver } = connected(on, { clock, ...more })
  driver.mount({ bucket: 'B', path: '/mnt' }).catch((error: unknown) => (end.error = error))
  return { asked: on.asked, clock, end }
}

describe('a call that gets no answer', () => {
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
