// The bounds of one pass: its time, its places to go on from, its shares, and the words of its report.
import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test, vi } from 'vitest'
import { planCleanup } from '../../src/sweep/plan-cleanup.ts'
import { type CleanupOptions, runCleanup } from '../../src/sweep/run-cleanup.ts'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import type { CleanupMode } from '../../src/sweep/verdict.ts'
import { finish, type Fleetlet, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'
import { killed } from '../store/store-samples.ts'
import { withLedgerClock } from './pass.ts'

const CURSOR = 'cleanup-cursor-scheduled:test'

function sweep(
  { clock, context }: Fleetlet,
  mode: CleanupMode = 'scheduled',
  options: CleanupOptions = {},
) {
  return finish(clock, runCleanup(context, mode, options))
}

async function many(fleet: Fleetlet, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await given(fleet, `a${n}`)
}

function asked(fleet: Fleetlet): readonly string[] {
  const calls = fleet.driver.calls.filter((call) => call.startsWith('inspect '))
  return [...new Set(calls.map((call) => call.slice('inspect '.length)))]
}

describe('the time of a pass', () => {
  test.each([
    [999, ['destroyed', 'destroyed'], 'completed'],
    [1000, ['destroyed', 'over-budget'], 'more'],
  ])('one that takes %s ms of 1000', async (ms, outcomes, outcome) => {
    const fleet = setup({ policy: { passTimeoutMs: 1000, concurrency: 1 } })
    await many(fleet, 2)
    fleet.driver.onTerminate = async ({ id }) => {
      await fleet.clock.sleep(ms)
      fleet.driver.alive.delete(id)
    }
    const done = runCleanup(fleet.context, 'scheduled')
    await fleet.clock.advance(ms)
    const report = await finish(fleet.clock, done)
    expect(report.items.map((item) => item.outcome)).toEqual(outcomes)
    expect(report.outcome).toBe(outcome)
  })

  test('goes by the clock of the ledger from its start on', async () => {
    const fleet = withLedgerClock()
    fleet.clock.aheadMs = HOUR_MS
    const startedAt = fleet.clock.now() - HOUR_MS
    const report = await sweep(fleet)
    expect(report.startedAt).toBeGreaterThanOrEqual(startedAt)
    expect(report.startedAt).toBeLessThan(startedAt + MINUTE_MS)
    expect(report.finishedAt).toBeGreaterThanOrEqual(report.startedAt)
  })
})

describe('a place to go on from', () => {
  test('is kept until a pass has looked at the rest, and only one that saw all is complete', async () => {
    const fleet = setup({ policy: { maxExaminedPerPass: 100 } })
    await many(fleet, 150)
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true })
    const passes: unknown[] = []
    for (let n = 0; n < 2; n += 1) {
      const { examined, outcome } = await sweep(fleet)
      passes.push([outcome, examined, await fleet.store.readState(CURSOR)])
    }
    expect(passes).toEqual([
      ['more', 100, expect.stringMatching(/^\w+\.\w+$/)],
      ['more', 50, ''],
    ])
    await fleet.clock.advance(MINUTE_MS)
    const few = setup()
    await many(few, 2)
    expect(await sweep(few)).toMatchObject({ outcome: 'completed', examined: 2 })
    expect(await sweep(few)).toMatchObject({ outcome: 'completed', examined: 0 })
  })

  test('that is no text is none', async () => {
    const fleet = setup()
    await many(fleet, 1)
    await fleet.store.writeState(CURSOR, 7)
    expect(await sweep(fleet)).toMatchObject({ outcome: 'completed', cleaned: 1 })
  })

  test('is of its mode', async () => {
    const fleet = setup({ policy: { maxExaminedPerPass: 100 } })
    await many(fleet, 150)
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true })
    await sweep(fleet)
    expect(await sweep(fleet, 'pressure')).toMatchObject({ examined: 100 })
  })

  test('a ledger that does not answer is asked once', async () => {
    const store = new MemoryFleetStore()
    const due = vi.spyOn(store, 'due')
    due.mockRejectedValue(new FleetError('unavailable', 'no answer'))
    const fleet = setup({ store })
    await store.writeState(CURSOR, 'a.a')
    expect(await sweep(fleet)).toMatchObject({ outcome: 'store-failed' })
    expect(due).toHaveBeenCalledOnce()
  })

  test('in an emergency all pages of the ledger are read, but for what is gone', async () => {
    const fleet = setup()
    await many(fleet, 101)
    for (const status of ['provisioning', 'failed'] as const) await given(fleet, status, { status })
    const plan = await planCleanup(fleet.context, 'emergency')
    expect(plan).toMatchObject({ examined: 103, unreadable: 0, spared: {} })
    expect(new Set(plan.candidates.map(({ record }) => record.id)).size).toBe(103)
  })
})

describe('the shares of a pass', () => {
  test('of owed destroys are not counted as found to end', async () => {
    const fleet = setup({ policy: { maxRetriesPerPass: 1, maxKillsPerPass: 1 } })
    for (let n = 0; n < 20; n += 1) {
      const record = await given(fleet, `owed${n}`)
      await fleet.store.update(killed(record, fleet.clock.now()))
    }
    await many(fleet, 10)
    await sweep(fleet)
    expect(fleet.driver.terminated).toHaveLength(2)
  })

  test('the longest idle come first while all can be asked about', async () => {
    const fleet = setup()
    await many(fleet, 50)
    await sweep(fleet)
    const first = Array.from({ length: 10 }, (_, n) => `a${n}`)
    expect(fleet.driver.terminated.toSorted()).toEqual(first)
  })

  test('else the start varies, and goes round', async () => {
    const fleet = setup()
    await many(fleet, 60)
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true })
    await sweep(fleet)
    const numbers = [...Array(60).keys()]
    const inTurn = [...numbers.slice(30), ...numbers.slice(0, 20)]
    expect(asked(fleet)).toEqual(inTurn.map((n) => `a${n}`))
  })
})

describe('a dry run', () => {
  test('says whether there is more to look at', async () => {
    const fleet = setup({ policy: { maxExaminedPerPass: 100 } })
    await many(fleet, 101)
    expect(await sweep(fleet, 'scheduled', { dryRun: true })).toMatchObject({ outcome: 'more' })
    const few = setup()
    await many(few, 1)
    expect(await sweep(few, 'scheduled', { dryRun: true })).toMatchObject({ outcome: 'completed' })
    expect(few.logger.lines[0]?.fields).toEqual({ mode: 'scheduled', dryRun: true })
  })
})

describe('the report', () => {
  test('of a pass that ended early has what it found, and why it ended', async () => {
    const fleet = setup()
    await many(fleet, 1)
    await given(fleet, 'young', { ageMs: MINUTE_MS })
    fleet.driver.onInspect = async () => {
      await fleet.store.releaseLease({ name: 'sweep:test', token: 1 })
      await SweepLease.acquire({ ...fleet.context, instanceId: 'other' })
      return { state: 'running' }
    }
    const report = await sweep(fleet)
    const now = fleet.clock.now()
    expect(report).toEqual({
      mode: 'scheduled',
      isDryRun: false,
      outcome: 'lease-lost',
      startedAt: now,
      finishedAt: now,
      examined: 2,
      found: 1,
      cleaned: 0,
      items: [
        {
          id: 'a0',
          provider: 'fake',
          action: 'destroy',
          reason: 'idle',
          detail: 'nothing happened for 60 min, and it has no holder',
          outcome: 'changed',
        },
      ],
      spared: { young: 1 },
      unreadable: 0,
      error: 'another sweeper took over',
    })
    const [line] = fleet.logger.with(fleetMessages.cleanupStopped)
    const fields = { mode: 'scheduled', outcome: 'lease-lost', found: 1, cleaned: 0 }
    expect(line).toMatchObject({ level: 'error', fields: { ...fields, spared: { young: 1 } } })
    expect(line?.fields).toHaveProperty('err.code', 'lease-lost')
  })

  test('of one that could not begin has nothing', async () => {
    const fleet = setup()
    await SweepLease.acquire({ ...fleet.context, instanceId: 'other' })
    const nothing = { examined: 0, found: 0, cleaned: 0, items: [], spared: {}, unreadable: 0 }
    expect(await sweep(fleet)).toMatchObject({ outcome: 'lease-held', ...nothing })
  })

  test('its lines say how much was found, and why each was ended', async () => {
    const fleet = setup()
    await given(fleet, 'used', { idleMs: 0 })
    await many(fleet, 1)
    await sweep(fleet)
    const fieldsOf = (text: string) => fleet.logger.with(text).map(({ fields }) => fields)
    const counts = { found: 1, cleaned: 1, spared: { active: 1 } }
    expect(fieldsOf(fleetMessages.cleanupStarted)).toEqual([{ mode: 'scheduled', dryRun: false }])
    expect(fieldsOf(fleetMessages.found(1))).toEqual([{ count: 1, examined: 2 }])
    expect(fieldsOf(fleetMessages.cleanedUp('a0'))).toEqual([{ sandboxId: 'a0', reason: 'idle' }])
    expect(fieldsOf(fleetMessages.cleanupCompleted)).toEqual([
      { mode: 'scheduled', outcome: 'completed', ...counts },
    ])
  })

  test('of a destroy that is tried again has its first reason, and how often it was tried', async () => {
    const fleet = setup()
    const record = killed(await given(fleet, 'a'), fleet.clock.now())
    await fleet.store.update({ ...record, owed: { ...record.owed!, attempts: 3 } })
    const { kill: _kill, owed: _owed, ...bare } = killed(await given(fleet, 'b'), 0)
    await fleet.store.update(bare)
    const { candidates } = await planCleanup(fleet.context, 'scheduled')
    const texts = Object.fromEntries(candidates.map((one) => [one.record.id, one.detail]))
    expect(texts).toEqual({ a: 'test; tried 3 times', b: '; tried 0 times' })
    expect(new Set(candidates.map(({ reason }) => reason))).toEqual(new Set(['operator']))
  })
})

const refuse = () => Promise.reject(new FleetError('unavailable', 'not written'))

test.each(['releaseLease', 'writeState', 'heartbeat'])('a pass waits for %s', async (what) => {
  const fleet = setup()
  const { store } = fleet
  const write = store.writeState.bind(store)
  if (what === 'releaseLease') store.releaseLease = refuse
  if (what === 'writeState') store.writeState = refuse
  if (what === 'heartbeat') {
    store.writeState = (key, value) => (key.startsWith(what) ? refuse() : write(key, value))
  }
  expect(await sweep(fleet)).toMatchObject({ outcome: 'store-failed', error: 'not written' })
})
