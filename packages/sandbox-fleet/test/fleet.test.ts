import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { Fleet, MemoryFleetStore, startFleetTimer } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { FakeDriver, finish, given, HOUR_MS, MINUTE_MS } from './fleet-harness.ts'
import { codeOf } from './store/store-samples.ts'

function setup() {
  const clock = new ManualClock(1_700_000_000_000)
  const store = new MemoryFleetStore()
  const driver = new FakeDriver()
  const logger = new RecordingLogger()
  const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock, logger })
  return { clock, driver, fleet, logger, store }
}

describe('a fleet', () => {
  test('refuses options that cannot be used', async () => {
    const options = { store: new MemoryFleetStore(), drivers: [], environment: 'test' }
    const codes = await Promise.all(
      [
        { ...options, environment: ' ' },
        { ...options, policy: { graceMs: 1000 } },
        { ...options, policy: { nonsense: 1 } as object },
        { ...options, drivers: [new FakeDriver(), new FakeDriver()] },
      ].map((each) => codeOf((async () => new Fleet(each))())),
    )
    expect(codes).toEqual(['config-invalid', 'config-invalid', 'config-invalid', 'config-invalid'])
  })

  test('tells how it stands', async () => {
    const parts = setup()
    await given(parts, 'a')
    await given(parts, 'b', { status: 'failed' })
    await given(parts, 'c', { status: 'provisioning' })
    expect(await parts.fleet.stats()).toMatchObject({
      environment: 'test',
      active: 3,
      provisioning: 1,
      running: 1,
      failed: 1,
      totalCreated: 3,
      totalDestroyed: 0,
      capacity: 10,
      usedRatio: 0.3,
      firstSandboxAt: parts.clock.now() - HOUR_MS,
    })
  })

  test.each([
    [10_000, true],
    [10_001, false],
  ])('a cleanup that ended %d ms ahead counts: %s', async (ms, counts) => {
    const { clock, fleet, store } = setup()
    await store.writeState('heartbeat:test', { cleanupAt: clock.now() + ms })
    expect('lastCleanupAt' in (await fleet.stats())).toBe(counts)
  })

  test('lists its own environment, unless asked for another', async () => {
    const parts = setup()
    await given(parts, 'ours')
    await given(parts, 'theirs', { environment: 'production' })
    expect((await parts.fleet.list()).records.map(({ id }) => id)).toEqual(['ours'])
    const page = await parts.fleet.list({ environment: 'production' })
    expect(page.records.map(({ id }) => id)).toEqual(['theirs'])
  })

  test('names what is wrong with each once, over several pages', async () => {
    const parts = setup()
    const ids = Array.from({ length: 401 }, (_, n) => `s${n}`)
    for (const id of ids) await given(parts, id)
    const findings = await parts.fleet.findings()
    expect(findings.map(({ sandboxId }) => sandboxId).toSorted()).toEqual(ids.toSorted())
  })

  test('shows logs, resources and what is wrong', async () => {
    const parts = setup()
    await given(parts, 'a')
    expect(await parts.fleet.logs('a')).toBe('logs of a')
    expect(await parts.fleet.resources('a')).toEqual({
      cpuPercent: 95,
      memoryMb: 120,
      durationMs: HOUR_MS,
      operations: 0,
    })
    expect(await parts.fleet.diagnose('a')).toMatchObject([{ kind: 'stuck' }])
    expect(await parts.fleet.findings()).toMatchObject([{ sandboxId: 'a', kind: 'stuck' }])
    expect(await codeOf(parts.fleet.get('nobody'))).toBe('unknown-sandbox')
  })
})

describe('a tick', () => {
  test('does all that is due: samples, cleanup, reconciliation once an hour, old records', async () => {
    const parts = setup()
    const { clock, driver, fleet } = parts
    const until = clock.now() + 100 * 24 * HOUR_MS
    await given(parts, 'held', { lease: { kind: 'owner', holder: 'o', until } })
    await given(parts, 'idle')
    const first = await finish(clock, fleet.tick())
    expect(first).toMatchObject({
      sampled: 2,
      cleanup: { cleaned: 1 },
      reconcile: { items: [] },
      errors: [],
    })
    expect((await fleet.get('held')).samples).toMatchObject([{ cpuPercent: 95, memoryMb: 120 }])
    expect((await finish(clock, fleet.tick())).reconcile).toBeUndefined()
    await clock.advance(HOUR_MS)
    driver.alive.set('orphan', { environment: 'test', createdAt: 0, ownerAlive: false })
    expect((await finish(clock, fleet.tick())).reconcile?.items).toMatchObject([{ id: 'orphan' }])
    await clock.advance(31 * 24 * HOUR_MS)
    expect((await finish(clock, fleet.tick())).pruned).toBe(2)
    expect(await fleet.stats()).toMatchObject({ totalCreated: 3, totalDestroyed: 2, running: 1 })
  })

  test('goes on when a part of it fails, and says so', async () => {
    const { clock, fleet, store } = setup()
    store.prune = () => Promise.reject(new Error('no pruning'))
    store.usageSince = () => Promise.reject(new Error('no usage'))
    expect(await finish(clock, fleet.tick())).toMatchObject({
      cleanup: { outcome: 'completed' },
      pruned: 0,
      alerts: [],
      errors: ['no pruning', 'no usage'],
    })
  })

  test('that is under way ends before its timer has stopped', async () => {
    const { clock, fleet, store } = setup()
    const gate = Promise.withResolvers<void>()
    const due = store.due.bind(store)
    store.due = async (query) => {
      await gate.promise
      return due(query)
    }
    const ends: string[] = []
    const stop = startFleetTimer(fleet, { clock, onTick: () => ends.push('tick') })
    await clock.advance(0)
    const stopped = stop().then(() => ends.push('stopped'))
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    expect(ends).toEqual([])
    gate.resolve()
    await finish(clock, stopped)
    expect(ends).toEqual(['tick', 'stopped'])
  })

  test('ends more when room is short', async () => {
    const parts = setup()
    for (let n = 0; n < 8; n += 1) await given(parts, `a${n}`, { idleMs: 2 * MINUTE_MS })
    const { cleanup } = await finish(parts.clock, parts.fleet.tick())
    expect(cleanup).toMatchObject({ mode: 'pressure', cleaned: 8 })
  })

  test('after the machine was asleep, owners may renew their leases first', async () => {
    const parts = setup()
    const { clock, driver, fleet } = parts
    const reporter = fleet.reporter('owner')
    driver.alive.set('held', {})
    reporter.opened({ id: 'held', provider: 'fake' })
    await finish(clock, reporter.flush())
    let asleepMs = 0
    const dozing = {
      now: () => clock.now() + asleepMs,
      setTimer: clock.setTimer.bind(clock),
      sleep: clock.sleep.bind(clock),
    }
    let ticks = 0
    const stop = startFleetTimer(fleet, { clock: dozing, onTick: () => (ticks += 1) })
    await clock.advance(0)
    asleepMs = HOUR_MS
    await clock.advance(5 * MINUTE_MS)
    expect(ticks).toBe(1)
    await clock.advance(2 * MINUTE_MS)
    expect(ticks).toBe(2)
    await stop()
    await reporter.stop()
  })

  test('goes on although somebody cannot take its report', async () => {
    const { clock, fleet, logger } = setup()
    let ticks = 0
    const onTick = (): never => {
      ticks += 1
      throw new Error('no')
    }
    const stop = startFleetTimer(fleet, { clock, logger, onTick })
    await clock.advance(10 * MINUTE_MS)
    expect(ticks).toBe(3)
    expect(logger.with('sandbox fleet tick failed')).toHaveLength(3)
    await stop()
  })

  test('a tick that hangs does not end the timer', async () => {
    const { clock, fleet, logger, store } = setup()
    const due = store.due.bind(store)
    store.due = () => new Promise(() => undefined)
    let ticks = 0
    const stop = startFleetTimer(fleet, { clock, logger, onTick: () => (ticks += 1) })
    await clock.advance(12 * MINUTE_MS)
    store.due = due
    expect([ticks, logger.with('sandbox fleet tick failed').length]).toEqual([0, 0])
    await clock.advance(6 * MINUTE_MS)
    expect([ticks, logger.with('sandbox fleet tick failed').length]).toEqual([1, 1])
    await stop()
  })

  test('comes as often as `intervalMs` says, whatever the policy says', async () => {
    const { clock, fleet } = setup()
    let ticks = 0
    const stop = startFleetTimer(fleet, { clock, intervalMs: 1000, onTick: () => (ticks += 1) })
    await clock.advance(3500)
    expect(ticks).toBe(4)
    await stop()
  })

  test('comes again and again from a timer, one at a time, until that is stopped', async () => {
    const { clock, fleet } = setup()
    let ticks = 0
    const stop = startFleetTimer(fleet, { clock, onTick: () => (ticks += 1) })
    await clock.advance(0)
    expect(ticks).toBe(1)
    await clock.advance(10 * MINUTE_MS)
    expect(ticks).toBe(3)
    await stop()
    await clock.advance(HOUR_MS)
    expect(ticks).toBe(3)
    expect(clock.pendingTimers).toBe(0)
  })
})
