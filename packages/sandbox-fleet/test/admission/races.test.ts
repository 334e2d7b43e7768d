// A sandbox of a pool, a sweeper, an emergency and an operator at once: the one that writes first wins,
// and what a request was given is not ended.
import { Fleet, type SandboxProbe } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { FakeDriver, finish, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'

/** A fleet with one sandbox in a pool, and the next probe held back until it is answered. */
async function pooled() {
  const parts = setup()
  const { clock, driver, store } = parts
  const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
  const create = async (id: string): Promise<void> =>
    void driver.alive.set(id, { environment: 'test' })
  const open = (id: string) => fleet.admission.open({ id, provider: 'fake', pool: 'p' }, create)
  const lease = await open('sb-1')
  await lease.release({ pool: 'p' })
  return { ...parts, fleet, open }
}

/** Holds back the next probe of a driver. */
function holdProbe(driver: FakeDriver) {
  const usual = driver.onInspect
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<SandboxProbe>()
  driver.onInspect = () => {
    driver.onInspect = usual
    asked.resolve()
    return answered.promise
  }
  return { asked: asked.promise, answer: () => answered.resolve({ state: 'running' }) }
}

describe('a sandbox of a pool', () => {
  test('whose time there is over is not given away while a sweeper probes it', async () => {
    const { clock, context, driver, open } = await pooled()
    await clock.advance(6 * MINUTE_MS)
    const probe = holdProbe(driver)
    const pass = runCleanup(context, 'scheduled')
    await probe.asked
    const lease = await finish(clock, open('sb-2'))
    probe.answer()
    const { items } = await finish(clock, pass)
    expect(items.map(({ id, outcome }) => [id, outcome])).toEqual([['sb-1', 'destroyed']])
    expect([lease.id, lease.wasReused, [...driver.alive.keys()]]).toEqual(['sb-2', false, ['sb-2']])
  })

  test('that an operator ends while it is probed for reuse is not given away', async () => {
    const { clock, driver, fleet, open } = await pooled()
    const probe = holdProbe(driver)
    const opening = open('sb-2')
    await probe.asked
    expect(await fleet.terminate('sb-1')).toBe('destroyed')
    probe.answer()
    const lease = await finish(clock, opening)
    expect([lease.id, lease.wasReused, [...driver.alive.keys()]]).toEqual(['sb-2', false, ['sb-2']])
  })

  test('goes to one of two that ask at once', async () => {
    const { clock, driver, open } = await pooled()
    const leases = await finish(clock, Promise.all([open('sb-2'), open('sb-3')]))
    const ids = leases.map(({ id }) => id)
    expect([ids.includes('sb-1'), new Set(ids).size, driver.alive.size]).toEqual([true, 2, 2])
  })
})

describe('a sandbox that is ended while it is created', () => {
  test('is not given away, and is gone in the end', async () => {
    const { clock, driver, store } = setup()
    const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
    const created = Promise.withResolvers<void>()
    const opening = fleet.admission.open({ id: 'sb-1', provider: 'fake' }, async (id) => {
      await created.promise
      driver.alive.set(id, { environment: 'test' })
    })
    const failed = opening.catch(({ code }: { code: string }) => code)
    await clock.advance(MINUTE_MS)
    // The provider has none yet, and it may still arrive.
    expect(await finish(clock, fleet.terminate('sb-1'))).toBe('owed')
    created.resolve()
    expect(await finish(clock, failed)).toBe('invalid-transition')
    expect(driver.alive.has('sb-1')).toBe(true)
    for (let pass = 0; pass < 3; pass += 1) {
      await clock.advance(5 * MINUTE_MS)
      await finish(clock, fleet.cleanup())
    }
    expect([driver.alive.size, await statusOf(store, 'sb-1')]).toEqual([0, 'terminated'])
  })

  test('twice at once by operators has one effect', async () => {
    const { clock, driver, fleet } = await pooled()
    const outcomes = await finish(
      clock,
      Promise.all([fleet.terminate('sb-1'), fleet.terminate('sb-1'), fleet.emergency()]),
    )
    expect(driver.terminated).toEqual(['sb-1'])
    expect(outcomes.slice(0, 2)).toEqual(expect.arrayContaining(['destroyed', 'in-progress']))
  })
})
