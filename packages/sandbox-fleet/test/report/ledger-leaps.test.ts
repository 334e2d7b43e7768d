// The clock of the ledger itself leaps, for example since its object moved to another machine.
import { ManualClock } from '@helix-agents/core/testing'
import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../fleet-harness.ts'
import { TestDriver } from '../http/harness.ts'

class LeapingStore extends MemoryFleetStore {
  offsetMs = 0
  readonly #clock: ManualClock

  constructor(clock: ManualClock) {
    super()
    this.#clock = clock
  }

  async now(): Promise<number> {
    return this.#clock.now() + this.offsetMs
  }
}

function deployment() {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const store = new LeapingStore(clock)
  const driver = new TestDriver()
  const fleetOf = (): Fleet => new Fleet({ store, drivers: [driver], environment: 'test', clock })
  return { clock, store, driver, owner: fleetOf(), sweeper: fleetOf() }
}

describe('a ledger whose clock leaps ahead', () => {
  test('ends nothing that an owner holds', async () => {
    const { clock, driver, owner, store, sweeper } = deployment()
    await owner.admission.open({ id: 'sb-1', provider: 'test' }, async (id) => {
      driver.sandboxes.set(id, 'running')
    })
    await clock.advance(3 * MINUTE_MS)
    await sweeper.tick()
    await clock.advance(MINUTE_MS)
    store.offsetMs = HOUR_MS
    await sweeper.tick()
    expect(driver.sandboxes.size).toBe(1)
    for (let pass = 0; pass < 5; pass += 1) {
      await clock.advance(5 * MINUTE_MS)
      await sweeper.tick()
    }
    expect(driver.sandboxes.size).toBe(1)
  })

  test('still ends what nobody holds', async () => {
    const { clock, driver, owner, store, sweeper } = deployment()
    const lease = await owner.admission.open({ id: 'sb-1', provider: 'test' }, async (id) => {
      driver.sandboxes.set(id, 'running')
    })
    await lease.release()
    await sweeper.tick()
    store.offsetMs = HOUR_MS
    await clock.advance(5 * MINUTE_MS)
    await sweeper.tick()
    expect(driver.sandboxes.size).toBe(0)
  })
})

describe('a ledger whose clock was ahead and is right again', () => {
  test('tells that no cleanup runs', async () => {
    const { clock, driver, owner, store, sweeper } = deployment()
    await owner.admission.open({ id: 'sb-1', provider: 'test' }, async (id) => {
      driver.sandboxes.set(id, 'running')
    })
    store.offsetMs = 24 * HOUR_MS
    await clock.advance(5 * MINUTE_MS)
    await sweeper.tick()
    store.offsetMs = 0
    await clock.advance(30 * MINUTE_MS)
    const alerts = await sweeper.alerts()
    expect(alerts.map(({ name }) => name)).toContain('sandbox_cleanup_not_running')
  })

  test('begins other alerts in time', async () => {
    const { clock, driver, owner, store, sweeper } = deployment()
    for (let at = 0; at < 10; at += 1) {
      await owner.admission.open({ id: `sb-${at}`, provider: 'test' }, async (id) => {
        driver.sandboxes.set(id, 'running')
      })
    }
    store.offsetMs = 24 * HOUR_MS
    await clock.advance(MINUTE_MS)
    await sweeper.alerts()
    store.offsetMs = 0
    await clock.advance(MINUTE_MS)
    await sweeper.alerts()
    await clock.advance(6 * MINUTE_MS)
    const alerts = await sweeper.alerts()
    expect(alerts.map(({ name }) => name)).toContain('sandbox_leak_detected')
  })
})
