// Processes whose clocks differ, on a ledger that has one of its own, and on one that has none.
import type { Clock } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  createFleetApp,
  Fleet,
  type FleetStore,
  MemoryFleetStore,
} from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { FakeDriver, finish, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

class StoreWithTime extends MemoryFleetStore {
  readonly #clock: Clock
  asked = 0
  answer: () => Promise<number> = async () => this.#clock.now()

  constructor(clock: Clock) {
    super()
    this.#clock = clock
  }

  now(): Promise<number> {
    this.asked += 1
    return this.answer()
  }
}

class ShiftedClock implements Clock {
  readonly #clock: Clock
  offsetMs: number

  constructor(clock: Clock, offsetMs: number) {
    this.#clock = clock
    this.offsetMs = offsetMs
  }

  now(): number {
    return this.#clock.now() + this.offsetMs
  }

  setTimer(ms: number, callback: () => void): () => void {
    return this.#clock.setTimer(ms, callback)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal)
  }
}

const clock = () => new ManualClock(1_700_000_000_000)

function join(store: FleetStore, time: Clock, driver = new FakeDriver()) {
  const logger = new RecordingLogger()
  const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock: time, logger })
  return { driver, fleet, logger }
}

/** A run on another machine that goes on for two hours, and cleanups beside it. */
async function runBeside(store: FleetStore, time: ManualClock, offsetMs: number) {
  const driver = new FakeDriver()
  const owner = join(store, new ShiftedClock(time, offsetMs), driver)
  const sweeper = join(store, time, driver)
  const reporter = owner.fleet.reporter()
  reporter.opened({ id: 'a', provider: 'fake' })
  driver.alive.set('a', { environment: 'test', createdAt: time.now() })
  await finish(time, reporter.flush())
  for (let minute = 0; minute < 120; minute += 1) {
    await time.advance(MINUTE_MS)
    if (minute % 5 === 0) await finish(time, sweeper.fleet.tick())
  }
  return { ...sweeper, owner, reporter }
}

describe('a ledger with a clock', () => {
  test.each([-HOUR_MS, 0, HOUR_MS])(
    'keeps what is held by a clock off by %i ms',
    async (offset) => {
      const time = clock()
      const { driver, fleet, owner, reporter } = await runBeside(
        new StoreWithTime(time),
        time,
        offset,
      )
      expect(driver.terminated).toEqual([])
      expect(await fleet.get('a')).toMatchObject({ status: 'running' })
      expect(owner.logger.with('Sandbox clock is off')).toHaveLength(offset === 0 ? 0 : 1)
      // Its process dies: the lease does not outlive it by the difference.
      void reporter.stop()
      await time.advance(13 * MINUTE_MS)
      await finish(time, fleet.cleanup())
      expect(driver.terminated).toEqual(['a'])
    },
  )

  test.each([
    ['the run', HOUR_MS, 0],
    ['the run, back', -HOUR_MS, 0],
    ['the cleanup', 0, HOUR_MS],
    ['the cleanup, back', 0, -HOUR_MS],
  ])('keeps what is held by a clock that leaps: that of %s', async (_, ownerMs, sweeperMs) => {
    const time = clock()
    const store = new StoreWithTime(time)
    const driver = new FakeDriver()
    const clocks = [new ShiftedClock(time, 0), new ShiftedClock(time, 0)] as const
    const owner = join(store, clocks[0], driver)
    const sweeper = join(store, clocks[1], driver)
    const reporter = owner.fleet.reporter()
    reporter.opened({ id: 'a', provider: 'fake' })
    driver.alive.set('a', { environment: 'test', createdAt: time.now() })
    await finish(time, reporter.flush())
    for (let minute = 0; minute < 30; minute += 1) {
      clocks[0].offsetMs += ownerMs
      clocks[1].offsetMs += sweeperMs
      reporter.activity('a')
      await time.advance(MINUTE_MS)
      await finish(time, sweeper.fleet.cleanup())
    }
    expect(driver.terminated).toEqual([])
    const { lastActivityAt } = await sweeper.fleet.get('a')
    expect(lastActivityAt).toBeLessThanOrEqual(time.now())
    void reporter.stop()
    await time.advance(13 * MINUTE_MS)
    await finish(time, sweeper.fleet.cleanup())
    expect(driver.terminated).toEqual(['a'])
  })

  test('is the one by which the API tells ages', async () => {
    const time = clock()
    const store = new StoreWithTime(time)
    const { driver, fleet } = join(store, time)
    driver.alive.set('a', {})
    await fleet.admission.open({ id: 'a', provider: 'fake' }, async () => {})
    await time.advance(7 * MINUTE_MS)
    const behind = join(store, new ShiftedClock(time, -HOUR_MS)).fleet
    const adminToken = 'a-token-of-the-operator'
    const app = createFleetApp({ fleet: behind, adminToken })
    const headers = { authorization: `Bearer ${adminToken}` }
    const ask = async (path: string) =>
      (await app.request(`/api/sandbox/${path}`, { headers })).json()
    expect(await ask('list')).toMatchObject([{ id: 'a', age_minutes: 7 }])
    expect(await ask('a')).toMatchObject({ age_minutes: 7 })
    expect(await ask('stats')).toMatchObject({ time: new Date(time.now()).toISOString() })
  })

  test('is asked now and then, by all that ask at once together', async () => {
    const time = clock()
    const store = new StoreWithTime(time)
    const { fleet } = join(store, time)
    await Promise.all([fleet.stats(), fleet.stats(), fleet.findings()])
    await fleet.stats()
    expect(store.asked).toBe(1)
    await time.advance(MINUTE_MS / 2)
    await fleet.stats()
    expect(store.asked).toBe(2)
  })

  test.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['tells no number', async () => Number.NaN],
    ['hangs', () => new Promise<never>(() => {})],
  ])('that %s: nothing is written by a time that nobody knows', async (_, answer) => {
    const time = clock()
    const store = new StoreWithTime(time)
    store.answer = answer
    const { driver, fleet } = join(store, time)
    const create = async (id: string) => void driver.alive.set(id, {})
    const opened = codeOf(fleet.admission.open({ id: 'a', provider: 'fake' }, create))
    expect(await finish(time, opened)).not.toBe('none')
    expect(await store.get('a')).toBeUndefined()
    expect(await finish(time, fleet.cleanup())).toMatchObject({ outcome: 'store-failed' })
    store.answer = async () => time.now()
    expect(await fleet.cleanup()).toMatchObject({ outcome: 'completed' })
    // What was told before may be wrong by now.
    store.answer = answer
    await time.advance(10 * MINUTE_MS)
    expect(await finish(time, fleet.cleanup())).toMatchObject({ outcome: 'store-failed' })
  })
})

describe('a ledger without a clock', () => {
  test.each([-70 * MINUTE_MS, 0, 70 * MINUTE_MS])(
    'keeps what is held by a clock off by %i ms, and ends it once its owner is silent',
    async (offset) => {
      const time = clock()
      const { driver, fleet, reporter } = await runBeside(new MemoryFleetStore(), time, offset)
      expect(driver.terminated).toEqual([])
      void reporter.stop()
      const endedAt = time.now()
      while (driver.terminated.length === 0 && time.now() < endedAt + 3 * HOUR_MS) {
        await time.advance(5 * MINUTE_MS)
        await finish(time, fleet.tick())
      }
      expect(driver.terminated).toEqual(['a'])
      // A lease of a clock that is ahead outlives its owner by the difference.
      const aheadMs = Math.max(0, offset)
      expect(time.now() - endedAt).toBeLessThanOrEqual(aheadMs + 25 * MINUTE_MS)
    },
  )

  test('a sweeper that is 70 min ahead ends nothing that was renewed just now', async () => {
    const time = clock()
    const { store, close } = await openSqliteFleetStore(':memory:')
    const driver = new FakeDriver()
    const owner = join(store, time, driver)
    const ahead = new ShiftedClock(time, 70 * MINUTE_MS)
    const sweeper = join(store, ahead, driver)
    const reporter = owner.fleet.reporter()
    reporter.opened({ id: 'a', provider: 'fake' })
    driver.alive.set('a', { environment: 'test', createdAt: time.now() })
    await finish(time, reporter.flush())
    expect((await finish(time, sweeper.fleet.cleanup())).spared).toEqual({ leased: 1 })
    // Again and again, each time right after the owner has renewed its lease.
    for (let round = 0; round < 10; round += 1) {
      await time.advance(MINUTE_MS)
      await finish(time, reporter.flush())
      await finish(time, sweeper.fleet.cleanup())
    }
    expect(driver.terminated).toEqual([])
    await reporter.stop()
    await close()
  })

  test('a deployment whose clocks are right believes them at once', async () => {
    const parts = setup({ policy: { leaseProofMs: 0 } })
    await given(parts, 'left', { lease: { kind: 'owner', holder: 'dead', until: 0 } })
    await finish(parts.clock, runCleanup(parts.context, 'scheduled'))
    expect(parts.driver.terminated).toEqual(['left'])
  })
})

test('a clock that was ahead puts off no comparison with the providers', async () => {
  const time = clock()
  const shifted = new ShiftedClock(time, 365 * 24 * HOUR_MS)
  const { driver, fleet } = join(new MemoryFleetStore(), shifted)
  expect((await fleet.tick()).reconcile?.outcome).toBe('completed')
  shifted.offsetMs = 0
  const createdAt = time.now() - HOUR_MS
  driver.alive.set('lost', { environment: 'test', createdAt, ownerAlive: false })
  const { reconcile } = await fleet.tick()
  expect(reconcile?.items).toMatchObject([{ id: 'lost', outcome: 'destroyed' }])
  await time.advance(MINUTE_MS)
  expect((await fleet.tick()).reconcile).toBeUndefined()
})
