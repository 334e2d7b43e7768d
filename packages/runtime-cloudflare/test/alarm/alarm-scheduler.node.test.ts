import { noopLogger } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { AlarmRetries } from '../../src/alarm/alarm-retries.ts'
import { AlarmScheduler, type AlarmSource } from '../../src/alarm/alarm-scheduler.ts'
import { collectionsOf } from '../../src/alarm/collections.ts'
import { later } from '../node-object.ts'

function createSubject(...sources: readonly AlarmSource[]) {
  const clock = new ManualClock()
  const state: { alarm: number | null; sets: number; isEmpty: boolean } = {
    alarm: null,
    sets: 0,
    isEmpty: false,
  }
  const storage = {
    getAlarm: async () => (await later(), state.alarm),
    setAlarm: async (at: number | Date) => {
      await later()
      // As the platform does.
      if (Number(at) <= 0) throw new TypeError('setAlarm() cannot be called with such a time')
      state.alarm = Number(at)
      state.sets++
    },
    deleteAlarm: async () => {
      await later()
      state.alarm = null
    },
  }
  const logger = new RecordingLogger()
  const kept = new Map<string, unknown>()
  const kv = {
    get: (key: string) => kept.get(key) as never,
    put: (key: string, value: unknown) => void kept.set(key, value),
    delete: (key: string) => kept.delete(key),
  }
  /** That of each instance of the object. */
  const create = () =>
    new AlarmScheduler({
      storage,
      retries: new AlarmRetries(kv, noopLogger),
      clock,
      logger,
      sources: () => sources,
      isEmpty: async () => state.isEmpty,
    })
  return { clock, state, scheduler: create(), create, kept, logger }
}

/** Wants to be called at the times that are left. */
function source(name: string, times: number[], run = async (): Promise<void> => {}) {
  const ran: number[] = []
  const one: AlarmSource = {
    name,
    nextAt: () => times[0],
    run: async (now) => {
      ran.push(now)
      times.shift()
      await run()
    },
  }
  return Object.assign(one, { ran })
}

test('the alarm is the earliest wish', async () => {
  const base = new ManualClock().now()
  const { state, scheduler } = createSubject(source('a', [base + 50]), source('b', [base + 20]))
  await scheduler.update()
  expect(state.alarm).toBe(base + 20)
})

test('an update that finds no wish leaves the alarm of a run that begins meanwhile', async () => {
  const base = new ManualClock().now()
  const { state, scheduler } = createSubject(source('a', []))
  await scheduler.ringBy(base + 90)
  const updated = scheduler.update()
  const begun = scheduler.ringBy(base + 90)
  await Promise.all([updated, begun])
  expect(state.alarm).toBe(base + 90)
  await scheduler.update()
  expect(state.alarm).toBeNull()
})

test('is set to the current time by a source that wants it at once', async () => {
  const { clock, state, scheduler } = createSubject(source('a', [0]))
  await scheduler.update()
  expect(state.alarm).toBe(clock.now())
})

test('is not set again while it is early enough', async () => {
  const base = new ManualClock().now()
  const times = [base + 50]
  const { state, scheduler } = createSubject(source('a', times))
  await scheduler.update()
  times[0] = base + 80
  await scheduler.update()
  expect(state).toMatchObject({ alarm: base + 50, sets: 1 })
  times[0] = base + 10
  await scheduler.update()
  expect(state).toMatchObject({ alarm: base + 10, sets: 2 })
})

test('is taken away when nobody wants it', async () => {
  const times = [new ManualClock().now() + 50]
  const { state, scheduler } = createSubject(source('a', times))
  await scheduler.update()
  times.shift()
  await scheduler.update()
  expect(state.alarm).toBeNull()
})

test('runs what is due, and nothing else', async () => {
  const base = new ManualClock().now()
  const a = source('a', [base + 10, base + 40])
  const b = source('b', [base + 30])
  const { clock, state, scheduler } = createSubject(a, b)
  await clock.advance(20)
  state.alarm = null
  await scheduler.ring()
  expect([a.ran, b.ran]).toEqual([[base + 20], []])
  expect(state.alarm).toBe(base + 30)
})

test('a source that fails is tried again a minute later, and does not stop the others', async () => {
  const base = new ManualClock().now()
  const bad: AlarmSource = {
    name: 'bad',
    nextAt: () => base,
    run: () => Promise.reject(new Error('mine')),
  }
  const good = source('good', [base])
  const { state, scheduler, logger } = createSubject(bad, good)
  await scheduler.ring()
  expect(good.ran).toEqual([base])
  expect(logger.lines.map(({ fields }) => fields)).toEqual([
    { err: new Error('mine'), source: 'bad' },
  ])
  expect(state.alarm).toBe(base + 60_000)
})

test('a source that fails for ever wakes the object ever less often, in all its instances', async () => {
  const bad: AlarmSource = {
    name: 'bad',
    nextAt: () => 0,
    run: () => Promise.reject(new Error('mine')),
  }
  const { clock, state, create } = createSubject(bad)
  const pauses: number[] = []
  for (let ring = 0; ring < 6; ring++) {
    await create().ring()
    pauses.push((state.alarm! - clock.now()) / 60_000)
    await clock.advance(state.alarm! - clock.now())
    state.alarm = null
  }
  expect(pauses).toEqual([1, 4, 16, 64, 256, 360])
})

test('a source that works again is forgotten to have failed', async () => {
  let isBad = true
  const times = [0, 0]
  const one = source('one', times, async () => {
    if (isBad) throw new Error('mine')
  })
  const { clock, state, scheduler, kept } = createSubject(one)
  await scheduler.ring()
  expect(kept.size).toBe(1)
  isBad = false
  await clock.advance(60_000)
  state.alarm = null
  await scheduler.ring()
  expect([kept.size, state.alarm, one.ran.length]).toEqual([0, null, 2])
})

test('a source whose wish fails does not stop the others', async () => {
  const base = new ManualClock().now()
  const bad: AlarmSource = {
    name: 'bad',
    nextAt: () => Promise.reject(new Error('mine')),
    run: async () => {},
  }
  const { state, scheduler } = createSubject(bad, source('good', [base + 5]))
  await scheduler.update()
  expect(state.alarm).toBe(base + 5)
})

test('a source whose wish fails is asked again when its time has come, and then later still', async () => {
  const bad: AlarmSource = {
    name: 'bad',
    nextAt: () => Promise.reject(new Error('mine')),
    run: async () => {},
  }
  const { clock, state, scheduler, logger } = createSubject(bad)
  const base = clock.now()
  await scheduler.update()
  expect(state.alarm).toBe(base + 60_000)
  expect(logger.lines).toEqual([
    {
      level: 'error',
      message: 'work of an alarm failed',
      fields: { err: new Error('mine'), source: 'bad' },
    },
  ])
  await clock.advance(59_999)
  await scheduler.update()
  expect(state.alarm).toBe(base + 60_000)
  await clock.advance(1)
  await scheduler.update()
  expect(state.alarm).toBe(base + 60_000 + 240_000)
})

test('nobody is asked, and nothing is noted, once the object was emptied', async () => {
  const base = new ManualClock().now()
  const subject = createSubject(
    source('first', [base], async () => {
      subject.state.isEmpty = true
      throw new Error('mine')
    }),
    {
      name: 'second',
      nextAt: () => {
        throw new Error('asked')
      },
      run: async () => {},
    },
  )
  const { scheduler, state, kept } = subject
  state.alarm = base + 5
  await scheduler.ring()
  expect([state.alarm, state.sets, kept.size]).toEqual([null, 0, 0])
  await scheduler.update()
  await scheduler.ring()
  expect([state.alarm, state.sets, kept.size]).toEqual([null, 0, 0])
})

test('providers that collect are sources, others are not', async () => {
  const collected: number[] = []
  const provider = {
    providerId: 'files',
    nextCollectionAt: () => 7,
    collect: async (now: number) => void collected.push(now),
  }
  const [files, ...others] = collectionsOf([
    { providerId: 'plain' },
    null,
    provider,
    { collect: 1 },
  ])
  expect(others).toEqual([])
  expect(await files!.nextAt(0)).toBe(7)
  await files!.run(9)
  expect(collected).toEqual([9])
})

const createRetries = () => {
  const kept = new Map<string, unknown>()
  const kv = {
    get: (key: string) => kept.get(key) as never,
    put: (key: string, value: unknown) => void kept.set(key, value),
    delete: (key: string) => kept.delete(key),
  }
  return { kv, retries: new AlarmRetries(kv, noopLogger) }
}

describe('what failed', () => {
  const NOW = 1_000_000_000_000
  const DAY_MS = 24 * 3_600_000

  test('is not tried again before its time', () => {
    const { retries } = createRetries()
    expect(retries.retryAt('one', NOW)).toBe(0)
    expect(retries.noteFailure('one', NOW)).toBe(NOW + 60_000)
    expect(retries.retryAt('one', NOW)).toBe(NOW + 60_000)
    expect(retries.noteFailure('one', NOW)).toBe(NOW + 240_000)
    expect(retries.retryAt('one', NOW + 1)).toBe(NOW + 240_000)
  })

  test('does not wait for a time that a wrong clock has set', () => {
    const { retries } = createRetries()
    retries.noteFailure('one', NOW + DAY_MS)
    expect(retries.retryAt('one', NOW)).toBe(NOW)
  })

  test('is remembered when it cannot be stored, as long as the instance lives', () => {
    const { kv, retries } = createRetries()
    const full = new AlarmRetries(
      {
        ...kv,
        put: () => {
          throw new Error('database or disk is full: SQLITE_FULL')
        },
      },
      noopLogger,
    )
    expect(full.noteFailure('one', NOW)).toBe(NOW + 60_000)
    expect(full.retryAt('one', NOW)).toBe(NOW + 60_000)
    expect(retries.retryAt('one', NOW)).toBe(0)
    full.noteSuccess('one')
    expect(full.retryAt('one', NOW)).toBe(0)
    full.noteFailure('one', NOW)
    full.forget()
    expect(full.retryAt('one', NOW)).toBe(0)
  })
})
