// What happens to a sandbox while a pass judges it: the pass goes by what is true then.
import { ManualClock } from '@helix-agents/core/testing'
import { MemoryFleetStore, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { expect, test } from 'vitest'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { finish, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'

async function use(store: MemoryFleetStore, id: string, now: number): Promise<SandboxRecord> {
  const record = (await store.get(id))!
  const used = { ...record, lastActivityAt: now, version: record.version + 1 }
  await store.update(used)
  return used
}

test('one that is used while the clock of the sweeper leaps ahead is left alone', async () => {
  const clock = new ManualClock(1_700_000_000_000)
  let leaptMs = 0
  const store = Object.assign(new MemoryFleetStore(), { now: async () => clock.now() - leaptMs })
  const fleet = setup({ store, clock })
  await given(fleet, 'a')
  const get = store.get.bind(store)
  store.get = async (id) => {
    store.get = get
    await use(store, id, clock.now())
    leaptMs = HOUR_MS
    await clock.advance(HOUR_MS)
    return get(id)
  }
  const report = await finish(clock, runCleanup(fleet.context, 'scheduled'))
  expect(report.items).toMatchObject([{ id: 'a', outcome: 'changed' }])
  expect(fleet.driver.terminated).toEqual([])
})

test('one that is used while its provider says that it waits for its session is left alone', async () => {
  const store = new MemoryFleetStore()
  const fleet = setup({ store })
  await given(fleet, 'a', { lease: { kind: 'owner', holder: 'o', until: 0 } })
  await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
  await fleet.clock.advance(5 * MINUTE_MS)
  fleet.driver.onInspect = async ({ id }) => {
    await use(store, id, fleet.clock.now())
    return { state: 'running', ownerAlive: false, isDetached: true }
  }
  const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
  expect(report.items).toMatchObject([{ id: 'a', outcome: 'changed' }])
  expect((await store.get('a'))?.lease).toMatchObject({ kind: 'owner' })
})

test.each([
  ['it does not stop', 'after the destroy its state is running. it does not stop'],
  [undefined, 'after the destroy its state is running. '],
])('a destroy that is owed says what the provider has said: %s', async (detail, message) => {
  const store = new MemoryFleetStore()
  const fleet = setup({ store })
  await given(fleet, 'a')
  const said = detail === undefined ? {} : { detail }
  fleet.driver.onInspect = () => ({ state: 'running', ...said })
  const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
  expect(report.items).toMatchObject([{ id: 'a', outcome: 'owed' }])
  expect((await store.get('a'))?.lastError).toMatchObject({ code: 'not-confirmed', message })
})
