import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { readHeartbeat } from '../../src/fleet-stats.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, given, HOUR_MS, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'

const operator = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const

describe('a cleanup', () => {
  test('a place to go on from that is of no use does not stop all later passes', async () => {
    const fleet = setup()
    await given(fleet, 'idle')
    await fleet.store.writeState('cleanup-cursor-scheduled:test', 'of another release')
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(report.items).toMatchObject([{ id: 'idle', outcome: 'destroyed' }])
    expect(await fleet.store.readState('cleanup-cursor-scheduled:test')).toBe('')
  })

  test('one whose marker says that it waits for its session is kept, though the report of it was lost', async () => {
    const fleet = setup()
    const { lastActivityAt } = await given(fleet, 'paused', {
      lease: { kind: 'owner', holder: 'o', until: 0 },
    })
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: false, isDetached: true })
    const first = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(first.spared).toEqual({ leased: 1 })
    await fleet.clock.advance(5 * MINUTE_MS)
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(report.items).toMatchObject([{ id: 'paused', outcome: 'owner-alive' }])
    const until = lastActivityAt + 7 * 24 * HOUR_MS
    expect((await fleet.store.get('paused'))?.lease).toMatchObject({ kind: 'detached', until })
    await fleet.clock.advance(8 * 24 * HOUR_MS)
    await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(fleet.driver.terminated).toEqual(['paused'])
  })

  test('the heartbeat of one environment is not that of another', async () => {
    const first = setup()
    const other = { ...first.context, environment: 'other' }
    await readHeartbeat(other)
    await first.clock.advance(HOUR_MS)
    await finish(first.clock, runCleanup(first.context, 'scheduled'))
    expect((await readHeartbeat(first.context)).cleanupAt).toBe(first.clock.now())
    expect((await readHeartbeat(other)).cleanupAt).toBeUndefined()
  })

  test('old ones that nobody can reach do not keep the others from being ended', async () => {
    const fleet = setup({ policy: { maxKillsPerPass: 2, maxRetriesPerPass: 2 } })
    for (let n = 0; n < 20; n += 1) {
      await given(fleet, `gone${n}`, { ageMs: 48 * HOUR_MS, provider: 'no-longer-configured' })
      await given(fleet, `deaf${n}`, { ageMs: 24 * HOUR_MS })
    }
    await given(fleet, 'young', { ageMs: HOUR_MS })
    fleet.driver.onInspect = ({ id }) =>
      id.startsWith('deaf') ? { state: 'unknown' } : { state: 'running' }
    fleet.driver.onTerminate = ({ id }) => {
      fleet.driver.onInspect = (target) =>
        target.id === id ? { state: 'absent' } : { state: 'unknown' }
    }
    await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(fleet.driver.terminated).toEqual(['young'])
    expect(await statusOf(fleet.store, 'young')).toBe('terminated')
  })

  test('ends what is over its time, and says why', async () => {
    const fleet = setup()
    const { clock, context, store } = fleet
    const far = clock.now() + HOUR_MS
    await given(fleet, 'idle')
    await given(fleet, 'overdue', {
      deadlineAt: clock.now() - 1,
      lease: { kind: 'owner', holder: 'o', until: far },
    })
    await given(fleet, 'never-started', { status: 'provisioning' })
    await given(fleet, 'broken', { status: 'failed' })
    await given(fleet, 'pooled', {
      idleMs: 1,
      lease: { kind: 'pool', holder: 'p', until: clock.now() - MINUTE_MS },
    })
    await given(fleet, 'held', { lease: { kind: 'owner', holder: 'o', until: far } })
    await given(fleet, 'waiting', { lease: { kind: 'detached', holder: 's', until: far } })
    const report = await finish(clock, runCleanup(context, 'scheduled'))
    const reasons = Object.fromEntries(
      report.items.map(({ id, outcome, reason }) => [id, `${reason} ${outcome}`]),
    )
    expect(reasons).toEqual({
      idle: 'idle destroyed',
      overdue: 'deadline destroyed',
      'never-started': 'provisioning-timeout destroyed',
      broken: 'failed destroyed',
      pooled: 'pool-expired destroyed',
    })
    expect(report).toMatchObject({ outcome: 'completed', found: 5, cleaned: 5 })
    expect(await store.get('idle')).toMatchObject({
      status: 'terminated',
      kill: { reason: 'idle', by: 'sweep:scheduled', at: clock.now() },
    })
    expect(await statusOf(store, 'held')).toBe('running')
    expect(await readHeartbeat(context)).toMatchObject({ cleanupAt: clock.now() })
  })

  test('writes the lines that the runbook looks for', async () => {
    const fleet = setup()
    await given(fleet, 'sandbox_123')
    await given(fleet, 'sandbox_124')
    await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    const lines = fleet.logger.lines.map(({ level, message }) => `${level} ${message}`)
    expect(lines).toEqual([
      'info Sandbox cleanup started',
      'info Found 2 sandboxes to cleanup',
      'info Cleaned up sandbox_123',
      'info Cleaned up sandbox_124',
      'info Cleanup completed',
    ])
  })

  test('under pressure ends what nobody holds sooner, the longest idle first', async () => {
    const fleet = setup({ policy: { maxKillsPerPass: 1, concurrency: 1 } })
    await given(fleet, 'a', { idleMs: 2 * MINUTE_MS })
    await given(fleet, 'b', { idleMs: 5 * MINUTE_MS })
    expect((await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))).found).toBe(0)
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'pressure'))
    expect(report.items[0]).toMatchObject({ id: 'b', reason: 'pressure', outcome: 'destroyed' })
    expect(await statusOf(fleet.store, 'a')).toBe('running')
  })

  test('in an emergency ends what is in use, but nothing critical', async () => {
    const fleet = setup()
    const lease = { kind: 'owner', holder: 'o', until: fleet.clock.now() + HOUR_MS } as const
    await given(fleet, 'used', { lease })
    await given(fleet, 'critical', { lease, critical: true })
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'emergency'))
    expect(fleet.driver.terminated).toEqual(['used'])
    expect(report.spared).toEqual({ critical: 1 })
  })

  test('as a dry run asks nobody and changes nothing', async () => {
    const fleet = setup()
    const before = await given(fleet, 'a')
    const report = await runCleanup(fleet.context, 'scheduled', { dryRun: true })
    expect(report).toMatchObject({
      isDryRun: true,
      found: 1,
      items: [{ id: 'a', outcome: 'planned' }],
    })
    expect(fleet.driver.calls).toEqual([])
    expect(await fleet.store.get('a')).toEqual(before)
  })

  test('finds what is gone already, and destroys nothing', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    fleet.driver.alive.clear()
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(report.items).toMatchObject([{ outcome: 'vanished' }])
    expect(fleet.driver.terminated).toEqual([])
    expect(await statusOf(fleet.store, 'a')).toBe('terminated')
  })

  test('never rejects: a ledger that does not answer is in the report', async () => {
    class BrokenStore extends MemoryFleetStore {
      override due(): Promise<never> {
        return Promise.reject(new FleetError('unavailable', 'no answer'))
      }
    }
    const { context, driver, logger } = setup({ store: new BrokenStore() })
    const report = await runCleanup(context, 'scheduled')
    expect(report).toMatchObject({ outcome: 'store-failed', error: 'no answer' })
    expect(driver.calls).toEqual([])
    expect(logger.with(fleetMessages.cleanupStopped)).toHaveLength(1)
    // The lease was given back.
    expect(
      await context.store.acquireLease({ name: 'sweep:test', holder: 'x', ttlMs: 1, now: 0 }),
    ).toBe(2)
  })

  test('goes on where it stopped, so that none waits for ever', async () => {
    const fleet = setup({ policy: { maxExaminedPerPass: 100, maxKillsPerPass: 200 } })
    for (let n = 0; n < 150; n += 1) await given(fleet, `a${n}`)
    fleet.driver.onInspect = ({ id }) =>
      Number(id.slice(1)) < 120 ? { state: 'unknown' } : { state: 'absent' }
    const first = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(first).toMatchObject({ outcome: 'more', cleaned: 0, examined: 100 })
    const second = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(second).toMatchObject({ cleaned: 30, examined: 50 })
  })
})

describe('an owed destroy', () => {
  test('is tried again with growing pauses until it is confirmed', async () => {
    const fleet = setup()
    const { clock, context, driver, store } = fleet
    await given(fleet, 'a')
    let failures = 4
    driver.onTerminate = ({ id }) => {
      failures -= 1
      if (failures >= 0) throw new Error('not now')
      driver.alive.delete(id)
    }
    const attemptsAt: number[] = []
    for (
      let minute = 0;
      minute < 40 && (await statusOf(store, 'a')) !== 'terminated';
      minute += 1
    ) {
      const before = driver.terminated.length
      await finish(clock, runCleanup(context, 'scheduled'))
      if (driver.terminated.length > before) attemptsAt.push(clock.now())
      await clock.advance(5000)
    }
    expect(driver.terminated).toHaveLength(5)
    const pauses = attemptsAt.slice(1).map((at, n) => at - (attemptsAt[n] ?? 0))
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    expect(await store.get('a')).toMatchObject({ status: 'terminated', kill: { reason: 'idle' } })
  })

  test('is confirmed although the reply was lost', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    fleet.driver.onTerminate = ({ id }) => {
      fleet.driver.alive.delete(id)
      throw new Error('reply lost')
    }
    const ending = terminateSandbox(fleet.context, 'a', operator)
    expect(await finish(fleet.clock, ending)).toBe('destroyed')
  })

  test('of a destroy that hangs ends in time, and is owed', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    fleet.driver.onTerminate = () => new Promise(() => undefined)
    const ending = terminateSandbox(fleet.context, 'a', operator)
    await fleet.clock.advance(30_000)
    expect(await ending).toBe('owed')
  })

  test('twice, one after the other, has one effect', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    const end = () => finish(fleet.clock, terminateSandbox(fleet.context, 'a', operator))
    expect([await end(), await end()]).toEqual(['destroyed', 'gone'])
    expect(fleet.driver.terminated).toEqual(['a'])
    expect(fleet.events.map(({ type }) => type)).toEqual(['kill', 'destroyed'])
  })

  test('of a sweeper that died is taken over', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    fleet.driver.onTerminate = () => new Promise(() => undefined)
    void terminateSandbox(fleet.context, 'a', operator)
    await fleet.clock.advance(0)
    const other = setup({ store: fleet.store, driver: fleet.driver })
    fleet.driver.onTerminate = ({ id }) => void fleet.driver.alive.delete(id)
    await other.clock.advance(2 * MINUTE_MS)
    const report = await finish(other.clock, runCleanup(other.context, 'scheduled'))
    expect(report.items).toMatchObject([{ id: 'a', action: 'retry', outcome: 'destroyed' }])
  })
})
