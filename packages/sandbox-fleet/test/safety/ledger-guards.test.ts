// The rules that the ledger itself enforces: one sweeper at a time, and no write on what somebody
// else has changed. Each is tried again on a ledger that does not enforce it.
import { type FleetStore, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { renewLease } from '../../src/report/ledger-writes.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { FakeDriver, finish, given, MINUTE_MS, setup } from '../fleet-harness.ts'

/** A store with some of its methods replaced. */
function sabotaged(change: (store: MemoryFleetStore) => Partial<FleetStore>): FleetStore {
  const store = new MemoryFleetStore()
  const broken = change(store)
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(broken, name) ?? Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
}

const withoutLease = (): FleetStore =>
  sabotaged((store) => ({
    acquireLease: async () => 1,
    update: (next) => store.update(next),
  }))

const withoutVersions = (): FleetStore =>
  sabotaged((store) => ({
    update: async (next) => {
      const version = ((await store.get(next.id))?.version ?? 0) + 1
      await store.update({ ...next, version })
    },
  }))

/** Two sweepers in two processes, while the first one waits for a slow provider. */
async function twoSweepers(store: FleetStore): Promise<void> {
  const clock = new ManualClock(1_700_000_000_000)
  const driver = new FakeDriver()
  const first = setup({ store, clock, driver, instanceId: 'first' })
  const second = setup({ store, clock, driver, instanceId: 'second' })
  await given(first, 'a')
  driver.onInspect = () => clock.sleep(1000).then(() => ({ state: 'running' }))
  const passes = [runCleanup(first.context, 'scheduled'), runCleanup(second.context, 'scheduled')]
  const reports = await finish(clock, Promise.all(passes))
  expect(reports.map(({ outcome }) => outcome).toSorted()).toEqual(['completed', 'lease-held'])
}

/** A sweeper that was stopped for a while, and goes on after another one took over. */
async function lateSweeper(store: FleetStore): Promise<void> {
  const clock = new ManualClock(1_700_000_000_000)
  const driver = new FakeDriver()
  const policy = { callTimeoutMs: 10 * MINUTE_MS, passTimeoutMs: 20 * MINUTE_MS }
  const late = setup({ store, clock, driver, policy, instanceId: 'late' })
  const other = setup({ store, clock, driver, policy, instanceId: 'other' })
  await given(late, 'a')
  const slow = Promise.withResolvers<void>()
  let looks = 0
  driver.onInspect = async () => {
    looks += 1
    if (looks === 1) await slow.promise
    return { state: 'running' }
  }
  const pass = runCleanup(late.context, 'scheduled')
  await clock.advance(3 * MINUTE_MS)
  await store.acquireLease({ name: 'sweep', holder: 'other', ttlMs: MINUTE_MS, now: clock.now() })
  slow.resolve()
  expect(await finish(other.clock, pass)).toMatchObject({ outcome: 'lease-lost' })
  expect(driver.terminated).toEqual([])
}

/** An owner that comes back while its sandbox is looked at. */
async function ownerComesBack(store: FleetStore): Promise<void> {
  const fleet = setup({ store })
  await given(fleet, 'a')
  fleet.driver.onInspect = async ({ id }) => {
    await renewLease(fleet.context, id, { holder: 'the owner' })
    return { state: 'running' }
  }
  const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
  expect(report.items).toMatchObject([{ outcome: 'changed' }])
  expect(fleet.driver.terminated).toEqual([])
}

describe('the ledger', () => {
  test('lets one sweeper work at a time', async () => {
    await expect(twoSweepers(new MemoryFleetStore())).resolves.toBeUndefined()
  })

  test('that lets two work is noticed', async () => {
    await expect(twoSweepers(withoutLease())).rejects.toBeInstanceOf(Error)
  })

  test('stops a sweeper that goes on too late', async () => {
    await expect(lateSweeper(new MemoryFleetStore())).resolves.toBeUndefined()
  })

  test('that does not stop it is noticed', async () => {
    await expect(lateSweeper(withoutLease())).rejects.toBeInstanceOf(Error)
  })

  test('refuses to end what its owner uses again', async () => {
    await expect(ownerComesBack(new MemoryFleetStore())).resolves.toBeUndefined()
  })

  test('that does not refuse it is noticed', async () => {
    await expect(ownerComesBack(withoutVersions())).rejects.toBeInstanceOf(Error)
  })
})
