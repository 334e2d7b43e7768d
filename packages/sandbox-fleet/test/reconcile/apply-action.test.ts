// One difference between the ledger and a provider: what is asked, what is written, and when it is over.
import { FleetError } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { applyAction } from '../../src/reconcile/apply-action.ts'
import { planReconcile } from '../../src/reconcile/plan-reconcile.ts'
import type { ReconcileAction } from '../../src/reconcile/reconcile-report.ts'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import { finish, type Fleetlet, given, HOUR_MS, setup } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'
import { SlowLedger } from '../store/slow-ledger.ts'

let store: SlowLedger
let parts: Fleetlet
let lease: SweepLease
beforeEach(async () => {
  store = new SlowLedger()
  parts = setup({ store })
  lease = (await SweepLease.acquire(parts.context))!
})

const HEAL: ReconcileAction = { kind: 'heal-record', id: 'a', provider: 'fake', status: 'running' }
const listed = { id: 'o', environment: 'test', createdAt: 0, ownerAlive: false }
const ORPHAN: ReconcileAction = { kind: 'end-orphan', id: 'o', provider: 'fake', listed }
const failure = (code: ConstructorParameters<typeof FleetError>[0]) => async (): Promise<never> => {
  throw new FleetError(code, 'test')
}

const apply = (action: ReconcileAction): Promise<string> =>
  finish(parts.clock, applyAction(action, { context: parts.context, lease, used: 0 }))

/** How it ends, and how much is still being written then. */
async function endOf(action: ReconcileAction): Promise<readonly [string, number]> {
  const work = applyAction(action, { context: parts.context, lease, used: 0 })
  return finish(
    parts.clock,
    work.then((outcome) => [outcome, store.writing] as const),
  )
}

/** One that the ledger has as gone, and that its provider lists again. */
async function returned(): Promise<ReconcileAction> {
  await given(parts, 'a')
  parts.driver.alive.clear()
  await apply(HEAL)
  await parts.clock.advance(HOUR_MS)
  lease = (await SweepLease.acquire(parts.context))!
  parts.driver.onInspect = () => ({
    state: parts.driver.terminated.length > 0 ? 'absent' : 'running',
    ownerAlive: false,
  })
  const back = { ...listed, id: 'a', createdAt: parts.clock.now() - HOUR_MS }
  return { kind: 'destroy-again', id: 'a', provider: 'fake', status: 'terminated', listed: back }
}

describe('it is over when it is written', () => {
  test('that one is gone', async () => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    expect(await endOf(HEAL)).toEqual(['healed', 0])
  })

  test.each([
    ['adopted', { state: 'running', isDetached: true }],
    ['healed', { state: 'absent' }],
    ['adopted', { state: 'running', ownerAlive: true }],
    ['unknown', { state: 'unknown' }],
  ] as const)('that an orphan is %s (%j)', async (outcome, probe) => {
    parts.driver.onInspect = () => probe
    expect(await endOf(ORPHAN)).toEqual([outcome, 0])
  })

  test('that one is back', async () => {
    const action = await returned()
    let versionAtDestroy: number | undefined
    const { version } = (await store.get('a'))!
    parts.driver.onTerminate = async () => {
      versionAtDestroy = (await store.get('a'))?.version
    }
    expect(await endOf(action)).toEqual(['destroyed', 0])
    // The intent is in the ledger before the provider is told.
    expect(versionAtDestroy).toBe(version + 1)
  })
})

describe('an error', () => {
  test.each([
    ['conflict', 'changed'],
    ['already-exists', 'changed'],
    ['corrupt', 'unknown'],
  ] as const)('%s concerns this one alone: it is %s', async (code, outcome) => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    store.update = failure(code)
    expect(await apply(HEAL)).toBe(outcome)
    store.create = failure(code)
    parts.driver.onInspect = () => ({ state: 'running', ownerAlive: false })
    expect(await apply(ORPHAN)).toBe(outcome)
  })

  test('of one that is back concerns that one alone', async () => {
    const action = await returned()
    store.update = failure('conflict')
    expect(await apply(action)).toBe('changed')
    expect(parts.driver.terminated).toEqual([])
  })

  test.each(['unavailable', 'lease-lost'] as const)('%s ends the pass', async (code) => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    store.update = failure(code)
    expect(await codeOf(apply(HEAL))).toBe(code)
  })
})

describe('another sweeper took over', () => {
  test('before it begins: nobody is asked', async () => {
    await given(parts, 'a')
    lease.keep = failure('lease-lost')
    expect(await codeOf(apply(HEAL))).toBe('lease-lost')
    expect(parts.driver.calls).toEqual([])
  })

  test('before an orphan is adopted: it is not', async () => {
    const keep = lease.keep.bind(lease)
    let calls = 0
    lease.keep = async () => {
      calls += 1
      return calls === 1 ? keep() : failure('lease-lost')()
    }
    expect(await codeOf(apply(ORPHAN))).toBe('lease-lost')
    expect(await store.get('o')).toBeUndefined()
  })

  test.each([1, 2])('while it is planned, at look %d', async (last) => {
    await given(parts, 'a')
    parts.driver.alive.set('o', listed)
    let calls = 0
    const keepLease = async (): Promise<void> => {
      calls += 1
      if (calls === last) await failure('lease-lost')()
    }
    const plan = planReconcile(parts.context, { cursors: {}, keepLease })
    expect(await finish(parts.clock, codeOf(plan))).toBe('lease-lost')
    expect(calls).toBe(last)
  })

  test('at the end of a pass, which then counts for nothing', async () => {
    await lease.release()
    // Once for the plan, and once for the end.
    const keep = vi
      .spyOn(SweepLease.prototype, 'keep')
      .mockResolvedValueOnce({ name: 'sweep', token: 1 })
      .mockImplementation(failure('lease-lost'))
    const { outcome } = await finish(parts.clock, runReconcile(parts.context))
    expect([outcome, keep.mock.calls.length]).toEqual(['lease-lost', 2])
    expect(await store.readState('heartbeat:test')).toBeUndefined()
  })
})

test('a pass whose end cannot be recorded has failed', async () => {
  await lease.release()
  store.writeState = failure('unavailable')
  expect(await finish(parts.clock, runReconcile(parts.context))).toMatchObject({
    outcome: 'store-failed',
  })
})
