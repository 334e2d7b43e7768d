import { ManualClock } from '@helix-agents/core/testing'
import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { CloudflareSandboxFleetDriver } from '@helix-agents/sandbox-fleet/cloudflare'
import { describe, expect, test } from 'vitest'

/** The namespace of sandboxes as it is: asking about an id makes it. */
function setup() {
  const made = new Map<string, string>()
  const calls: string[] = []
  let destroyWorks = true
  const getSandbox = (id: string) => {
    if (!made.has(id)) made.set(id, 'stopped')
    return {
      getState: async () => {
        calls.push(`state ${id}`)
        return { status: made.get(id) ?? 'stopped', lastChange: 0 }
      },
      destroy: async () => {
        calls.push(`destroy ${id}`)
        if (destroyWorks) made.set(id, 'stopped')
      },
    }
  }
  const clock = new ManualClock()
  const driver = new CloudflareSandboxFleetDriver({ getSandbox })
  const store = new MemoryFleetStore()
  const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
  const start = (id: string) =>
    fleet.admission.open({ id, provider: 'cloudflare-sandbox' }, async () => {
      made.set(id, 'healthy')
    })
  return { calls, clock, driver, fleet, made, start, store, break: () => (destroyWorks = false) }
}

describe('the driver of Cloudflare sandboxes', () => {
  test.each([
    ['running', 'running'],
    ['healthy', 'running'],
    ['stopping', 'stopping'],
    ['stopped', 'stopped'],
    ['stopped_with_code', 'stopped'],
    ['toString', 'unknown'],
  ])('%s is %s', async (status, state) => {
    const { driver, made } = setup()
    made.set('a', status)
    expect(await driver.inspect({ id: 'a', generation: 1 })).toMatchObject({ state })
  })

  test('never asks about an id that is not in the ledger', async () => {
    const { calls, fleet, made } = setup()
    await expect(fleet.terminate('unheard-of')).rejects.toMatchObject({ code: 'unknown-sandbox' })
    await expect(fleet.logs('unheard-of')).rejects.toMatchObject({ code: 'unknown-sandbox' })
    await expect(fleet.resources('unheard-of')).rejects.toMatchObject({ code: 'unknown-sandbox' })
    await fleet.tick()
    expect([calls, made.size]).toEqual([[], 0])
  })

  test('a destroy counts when the state says so', async () => {
    const { calls, fleet, start, store } = setup()
    await start('a')
    expect(await fleet.terminate('a')).toBe('destroyed')
    expect(calls).toEqual(['destroy a', 'state a'])
    expect(await store.get('a')).toMatchObject({ status: 'terminated' })
  })

  test('a destroy without effect is owed', async () => {
    const { fleet, start, store, ...rest } = setup()
    rest.break()
    await start('a')
    expect(await fleet.terminate('a')).toBe('owed')
    expect(await store.get('a')).toMatchObject({ status: 'terminating', owed: { attempts: 1 } })
  })

  test('one that fell asleep and is held by nobody is done with', async () => {
    const { clock, calls, fleet, made, start, store } = setup()
    const lease = await start('a')
    await lease.release()
    made.set('a', 'stopped')
    await clock.advance(15 * 60_000)
    await fleet.cleanup()
    expect(calls).toEqual(['state a'])
    expect(await store.get('a')).toMatchObject({ status: 'terminated' })
  })
})
