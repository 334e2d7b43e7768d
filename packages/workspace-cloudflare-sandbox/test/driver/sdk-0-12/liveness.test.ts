// When a container is dead: what its states and its silence say, to the millisecond.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import { Liveness } from '../../../src/driver/sdk-0-12/liveness.ts'

const INTERVAL_MS = 5000
const SILENCE_MS = 10_000

type State = { readonly status: string; readonly lastChange: number }

function watched({ wasWarm = false } = {}) {
  const clock = new ManualClock()
  const asked: number[] = []
  const parts = { probe: async (): Promise<State> => ({ status: 'healthy', lastChange: 0 }) }
  const options = { clock, intervalMs: INTERVAL_MS, silenceMs: SILENCE_MS, wasWarm }
  const liveness = new Liveness(options, () => {
    asked.push(clock.now())
    return parts.probe()
  })
  const seen: { death?: unknown } = {}
  liveness.dead.catch((error: unknown) => (seen.death = error))
  /** Each answer from now on. */
  const say = (status: string, lastChange = clock.now()): void => {
    parts.probe = async () => ({ status, lastChange })
  }
  return { asked, clock, liveness, parts, say, seen }
}

const dead = {
  code: 'interrupted',
  admitted: 'unknown',
  message: 'the container went away during the operation',
}

describe('a container', () => {
  it('that answers is asked after each interval, and is not dead', async () => {
    const { asked, clock, liveness, seen } = watched()
    const startedAt = clock.now()
    expect(liveness.wasAlive).toBe(false)
    await clock.advance(INTERVAL_MS - 1)
    expect(asked).toEqual([])
    await clock.advance(1)
    expect(liveness.wasAlive).toBe(true)
    await clock.advance(20 * INTERVAL_MS)
    expect(asked.slice(0, 3)).toEqual([1, 2, 3].map((n) => startedAt + n * INTERVAL_MS))
    expect(asked).toHaveLength(21)
    expect(seen.death).toBeUndefined()
  })

  it('that was alive is dead after its silence, from the first question that shows it on', async () => {
    const { clock, say, seen } = watched()
    await clock.advance(INTERVAL_MS)
    say('stopped')
    await clock.advance(INTERVAL_MS + SILENCE_MS - 1)
    expect(seen.death).toBeUndefined()
    await clock.advance(1)
    expect(seen.death).toMatchObject(dead)
  })

  it('that answers again in time is not dead, and its next silence is another one', async () => {
    const { clock, say, seen } = watched()
    await clock.advance(INTERVAL_MS)
    say('stopped')
    await clock.advance(INTERVAL_MS)
    say('healthy')
    await clock.advance(INTERVAL_MS)
    say('stopped')
    await clock.advance(INTERVAL_MS + SILENCE_MS - 1)
    expect(seen.death).toBeUndefined()
    await clock.advance(1)
    expect(seen.death).toMatchObject(dead)
  })

  it('that has not started is not dead, however long that takes', async () => {
    for (const status of ['running', 'stopped', 'stopping']) {
      const { clock, liveness, say, seen } = watched()
      say(status, clock.now() + 1)
      await clock.advance(100 * INTERVAL_MS)
      expect([liveness.wasAlive, seen.death]).toEqual([false, undefined])
    }
  })

  it('that took a call before, and has stopped since, is dead', async () => {
    for (const status of ['stopped', 'stopping', 'stopped_with_code']) {
      const { clock, say, seen } = watched({ wasWarm: true })
      say(status, clock.now() + 1)
      await clock.advance(INTERVAL_MS + SILENCE_MS)
      expect(seen.death).toMatchObject(dead)
    }
  })

  it('that took a call before, and had stopped by then, starts anew', async () => {
    const { clock, liveness, say, seen } = watched({ wasWarm: true })
    say('stopped', clock.now())
    await clock.advance(100 * INTERVAL_MS)
    say('running', clock.now() + 1)
    await clock.advance(100 * INTERVAL_MS)
    expect([liveness.wasAlive, seen.death]).toEqual([false, undefined])
  })

  it('of which nothing can be learnt is dead after its silence, alive before or not', async () => {
    for (const probe of [
      () => Promise.reject(new Error('no')),
      () => new Promise<never>(() => {}),
    ]) {
      const { clock, parts, seen } = watched()
      parts.probe = probe
      await clock.advance(INTERVAL_MS + SILENCE_MS - 1)
      expect(seen.death).toBeUndefined()
      await clock.advance(1)
      expect(seen.death).toMatchObject(dead)
    }
  })
})

describe('a watch that is over', () => {
  it('asks no more, and has no timer', async () => {
    const { asked, clock, liveness } = watched()
    await clock.advance(INTERVAL_MS)
    liveness.stop()
    await clock.advance(10 * INTERVAL_MS)
    expect(asked).toHaveLength(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it('says nothing of a question that was under way', async () => {
    const { asked, clock, liveness, parts, seen } = watched()
    const answer = Promise.withResolvers<State>()
    parts.probe = () => answer.promise
    await clock.advance(INTERVAL_MS)
    liveness.stop()
    answer.resolve({ status: 'healthy', lastChange: 0 })
    await clock.advance(10 * SILENCE_MS)
    expect([asked.length, seen.death]).toEqual([1, undefined])
    expect(clock.pendingTimers).toBe(0)
  })

  it('because the container is dead leaves no timer behind', async () => {
    const { asked, clock, parts } = watched()
    parts.probe = () => Promise.reject(new Error('no'))
    await clock.advance(INTERVAL_MS + SILENCE_MS)
    const count = asked.length
    await clock.advance(10 * INTERVAL_MS)
    expect(asked).toHaveLength(count)
    expect(clock.pendingTimers).toBe(0)
  })
})
