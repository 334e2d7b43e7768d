// Several environments, providers and tenants in one ledger: none touches what is another's.
import { FleetError } from '@helix-agents/core/runtime'
import { Fleet, type SandboxProbe } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import {
  recordActivity,
  recordOpened,
  recordOpening,
  renewLease,
} from '../../src/report/ledger-writes.ts'
import {
  recordFailed,
  recordGone,
  recordOwed,
  recordReleased,
} from '../../src/report/ledger-ends.ts'
import { FakeDriver, finish, given, setup, statusOf } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

const holder = 'process:me'
const sandbox = { id: 'sb-1', provider: 'fake' }
const activity = { at: 1, operations: 1, timeouts: 0, timeoutsInARow: 0, succeeded: true, holder }

describe('a sandbox of another environment', () => {
  test.each([
    ['opened', recordOpened],
    ['opening', recordOpening],
  ])('is not taken over when its id is %s', async (_, record) => {
    const fleet = setup()
    const before = await given(fleet, 'sb-1', { environment: 'other' })
    expect(await codeOf(record(fleet.context, sandbox, holder))).toBe('already-exists')
    expect(await fleet.store.get('sb-1')).toEqual(before)
  })

  test('is not ended, renewed or changed by what is reported under its id', async () => {
    const fleet = setup()
    const { context } = fleet
    const before = await given(fleet, 'sb-1', { environment: 'other' })
    const reports = [
      recordGone(context, 'sb-1', { detail: 'closed', holder }),
      recordOwed(context, 'sb-1', { detail: 'slow', holder }),
      recordFailed(context, 'sb-1', { code: 'open', message: 'no', holder }),
      recordReleased(context, 'sb-1', { holder, waiting: undefined }),
      renewLease(context, 'sb-1', { holder }),
      recordActivity(context, 'sb-1', activity),
    ]
    for (const report of reports) expect(await codeOf(report)).toBe('unknown-sandbox')
    expect(await fleet.store.get('sb-1')).toEqual(before)
  })

  test.each(['logs', 'resources'] as const)('is not asked about for %s', async (what) => {
    const fleet = setup()
    const { clock, driver, store } = fleet
    await given(fleet, 'sb-1', { environment: 'other' })
    const here = new Fleet({ store, drivers: [driver], environment: 'test', clock })
    expect(await codeOf(here[what]('sb-1'))).toBe('not-supported')
    expect(driver.calls).toEqual([])
  })

  test('has sweepers of its own, which wait for none of ours', async () => {
    const ours = setup()
    const driver = new FakeDriver()
    const theirs = new Fleet({
      store: ours.store,
      drivers: [driver],
      environment: 'other',
      clock: ours.clock,
    })
    await given(ours, 'sb-1')
    const asked = Promise.withResolvers<SandboxProbe>()
    ours.driver.onInspect = () => asked.promise
    const own = new Fleet({
      store: ours.store,
      drivers: [ours.driver],
      environment: 'test',
      clock: ours.clock,
    }).cleanup()
    await ours.clock.advance(0)
    expect((await theirs.cleanup()).outcome).toBe('completed')
    asked.resolve({ state: 'absent' })
    expect((await finish(ours.clock, own)).outcome).toBe('completed')
  })
})

test('a sandbox of another provider is not taken over', async () => {
  const fleet = setup()
  await given(fleet, 'sb-1')
  const other = { id: 'sb-1', provider: 'another' }
  expect(await codeOf(recordOpened(fleet.context, other, holder))).toBe('already-exists')
})

describe('a sandbox of another tenant', () => {
  test('is not taken over', async () => {
    const fleet = setup()
    await given(fleet, 'sb-1', { tenant: 'a' })
    const taken = recordOpened(fleet.context, { ...sandbox, tenant: 'b' }, holder)
    expect(await codeOf(taken)).toBe('already-exists')
    await recordOpened(fleet.context, { ...sandbox, tenant: 'a' }, holder)
    await recordOpened(fleet.context, sandbox, holder)
    expect((await fleet.store.get('sb-1'))?.tenant).toBe('a')
  })
})

async function reuse(first: boolean, second: boolean) {
  const fleet = setup()
  const { clock, driver, store } = fleet
  const open = new Fleet({ store, drivers: [driver], environment: 'test', clock })
  const create = async (id: string): Promise<void> =>
    void driver.alive.set(id, { environment: 'test' })
  const one = await open.admission.open({ id: 'sb-1', provider: 'fake', critical: first }, create)
  await one.release({ pool: 'p' })
  const request = { id: 'sb-2', provider: 'fake', pool: 'p', critical: second }
  const two = await open.admission.open(request, create)
  return { lease: two, record: await store.get(two.id) }
}

describe('a sandbox out of a pool', () => {
  test('is as critical as whoever uses it now', async () => {
    for (const [first, second] of [
      [true, false],
      [false, true],
    ] as const) {
      const { lease, record } = await reuse(first, second)
      expect([lease.wasReused, record?.critical]).toEqual([true, second])
      expect(record?.holdDeadlineAt === undefined).toBe(second)
    }
  })
})

test('the ledger has the errors that these tests expect', async () => {
  const fleet = setup()
  await given(fleet, 'sb-1', { environment: 'other' })
  await expect(recordGone(fleet.context, 'sb-1', { detail: 'x' })).rejects.toBeInstanceOf(
    FleetError,
  )
  expect(await statusOf(fleet.store, 'sb-1')).toBe('running')
})
