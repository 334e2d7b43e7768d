// When an operation is over, all that it writes is written: whoever looks then sees it.
import { type AlertSink, Fleet } from '@helix-agents/sandbox-fleet'
import { beforeEach, describe, expect, test } from 'vitest'
import { Admission } from '../../src/admission/admission.ts'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { finish, type Fleetlet, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'
import { SlowLedger } from './slow-ledger.ts'

let store: SlowLedger
let parts: Fleetlet
let fleet: Fleet
let admission: Admission
beforeEach(() => {
  store = new SlowLedger()
  parts = setup({ store })
  const { clock, context, driver } = parts
  fleet = new Fleet({
    store,
    drivers: [driver],
    environment: 'test',
    clock,
    policy: context.policy,
  })
  admission = new Admission(context)
})

/** The result of an operation, when nothing is being written any more as it ends. */
async function settled<T>(work: Promise<T>): Promise<T> {
  const [result, writing] = await finish(
    parts.clock,
    work.then(
      (value) => [value, store.writing] as const,
      (error: unknown) => [error as T, store.writing] as const,
    ),
  )
  expect(writing).toBe(0)
  return result
}

const statusOf = async (id: string) => (await store.get(id))?.status
const make = async (id: string): Promise<void> => void parts.driver.alive.set(id, {})

const cleaned = async (): Promise<string | undefined> => {
  const { items } = await settled(fleet.cleanup())
  return items[0]?.outcome
}

describe('a cleanup', () => {
  test('that ends one', async () => {
    await given(parts, 'a')
    expect(await cleaned()).toBe('destroyed')
    expect(await statusOf('a')).toBe('terminated')
  })

  test('that cannot confirm the end, and tries again', async () => {
    await given(parts, 'a')
    parts.driver.onTerminate = () => {}
    expect(await cleaned()).toBe('owed')
    expect((await store.get('a'))?.owed?.attempts).toBe(1)
    await parts.clock.advance(HOUR_MS)
    expect(await cleaned()).toBe('owed')
    expect((await store.get('a'))?.owed?.attempts).toBe(2)
  })

  test('that cannot know', async () => {
    await given(parts, 'a')
    parts.driver.onInspect = () => ({ state: 'unknown' })
    expect(await cleaned()).toBe('unknown')
    expect((await store.get('a'))?.unknownProbes).toBe(1)
  })

  test('that finds one gone', async () => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    expect(await cleaned()).toBe('vanished')
    expect(await statusOf('a')).toBe('terminated')
  })

  test('that finds one waiting for its session', async () => {
    await given(parts, 'a')
    parts.driver.onInspect = () => ({ state: 'running', isDetached: true })
    expect(await cleaned()).toBe('owner-alive')
    expect((await store.get('a'))?.lease?.kind).toBe('detached')
  })
})

const reconciled = async (): Promise<string | undefined> => {
  const { items } = await settled(fleet.reconcile())
  return items[0]?.outcome
}

describe('a comparison', () => {
  const orphan = { environment: 'test', createdAt: 0, ownerAlive: false }

  test('that finds one gone', async () => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    expect(await reconciled()).toBe('healed')
    expect(await statusOf('a')).toBe('terminated')
  })

  test('that adopts one', async () => {
    parts.driver.alive.set('o', { ...orphan, ownerAlive: true })
    expect(await reconciled()).toBe('adopted')
    expect(await statusOf('o')).toBe('running')
  })

  test('that finds one again', async () => {
    await given(parts, 'a')
    parts.driver.alive.clear()
    await settled(fleet.reconcile())
    await parts.clock.advance(HOUR_MS)
    parts.driver.alive.set('a', { ...orphan, createdAt: parts.clock.now() - HOUR_MS })
    parts.driver.onInspect = ({ id }) =>
      parts.driver.alive.has(id) ? { state: 'running', ownerAlive: false } : { state: 'absent' }
    expect(await reconciled()).toBe('destroyed')
    expect((await store.get('a'))?.kill?.reason).toBe('reappeared')
  })
})

describe('a sandbox', () => {
  const request = { id: 'p', provider: 'fake' }

  test('that is opened, used and released', async () => {
    const lease = await settled(admission.open(request, make))
    expect(await settled(lease.run(async () => 'done'))).toBe('done')
    expect((await store.get('p'))?.operations).toBe(1)
    expect((await store.usageSince(0)).executions).toBe(1)
    await settled(lease.release())
    expect((await store.get('p'))?.lease).toBeUndefined()
  })

  test('whose use is still being counted is not done', async () => {
    const lease = await settled(admission.open(request, make))
    const gate = Promise.withResolvers<void>()
    const addUsage = store.addUsage.bind(store)
    store.addUsage = async (...call) => {
      await gate.promise
      return addUsage(...call)
    }
    const progress = { isDone: false }
    const used = lease
      .run(async () => 'done')
      .finally(() => {
        progress.isDone = true
      })
    for (let turn = 0; turn < 20; turn += 1) await parts.clock.advance(0)
    expect(progress.isDone).toBe(false)
    gate.resolve()
    expect(await settled(used)).toBe('done')
  })

  test('that hangs is ended before its use fails', async () => {
    const lease = await settled(admission.open(request, make))
    const hung = lease.run(() => new Promise(() => {}), { timeoutMs: 1000 })
    expect(await settled(hung)).toMatchObject({ code: 'operation-timeout' })
    expect(await statusOf('p')).toBe('terminated')
    expect((await store.get('p'))?.kill?.reason).toBe('operation-timeout')
  })

  test('gives its place to whoever waits once it has ended, and not before', async () => {
    const { clock, driver } = parts
    const small = setup({ store, clock, driver, policy: { maxConcurrentSandboxes: 1 } })
    const only = new Admission(small.context)
    const first = await settled(only.open(request, make))
    const second = only.open(
      { ...request, id: 'q', onFull: 'queue', queueTimeoutMs: HOUR_MS },
      make,
    )
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(0)
    expect(only.queueLength).toBe(1)
    const startedAt = clock.now()
    const ended = first.terminate()
    // No time passes: it is woken, and does not look again after a while.
    for (let turn = 0; turn < 200; turn += 1) await clock.advance(0)
    expect(await ended).toBe('destroyed')
    expect([only.queueLength, clock.now()]).toEqual([0, startedAt])
    expect((await second).id).toBe('q')
  })

  test('whose use fails', async () => {
    const lease = await settled(admission.open(request, make))
    const failed = lease.run(async () => {
      throw new Error('no')
    })
    expect(await settled(failed)).toMatchObject({ message: 'no' })
    expect((await store.get('p'))?.operations).toBe(1)
  })

  test('that is used again from a pool', async () => {
    const pool = 'blue'
    const lease = await settled(admission.open({ ...request, pool }, make))
    await settled(lease.release({ pool }))
    expect((await store.get('p'))?.lease?.kind).toBe('pool')
    const again = await settled(admission.open({ ...request, id: 'q', pool }, make))
    expect([again.id, (await store.get('p'))?.lease?.kind]).toEqual(['p', 'owner'])
  })

  test('that cannot be made', async () => {
    const failed = admission.open(request, async () => {
      throw new Error('no')
    })
    expect(await settled(failed)).toMatchObject({ message: 'no' })
    expect(await statusOf('p')).toBe('failed')
  })

  test('that is not made in time', async () => {
    const failed = admission.open(request, () => new Promise(() => {}))
    expect(await settled(failed)).toMatchObject({ code: 'driver-failed' })
    expect(await statusOf('p')).toBe('failed')
  })

  test('that is ended', async () => {
    const lease = await settled(admission.open(request, make))
    expect(await settled(lease.terminate())).toBe('destroyed')
    expect(await statusOf('p')).toBe('terminated')
    await given(parts, 'a')
    parts.driver.onTerminate = () => {}
    expect(await settled(fleet.terminate('a'))).toBe('owed')
    expect((await store.get('a'))?.owed?.attempts).toBe(1)
  })
})

describe('a report', () => {
  test('of what is opened, used and given back', async () => {
    const reporter = new LedgerReporter(parts.context, 'me', {})
    await make('r')
    reporter.provisioning({ id: 'r', provider: 'fake' })
    reporter.opened({ id: 'r', provider: 'fake' })
    await settled(reporter.flush())
    expect(await statusOf('r')).toBe('running')
    reporter.activity('r')
    await settled(reporter.flush())
    expect((await store.get('r'))?.operations).toBe(1)
    expect((await store.usageSince(0)).executions).toBe(1)
    reporter.detached('r')
    await settled(reporter.stop())
    expect((await store.get('r'))?.lease?.kind).toBe('detached')
  })

  test('that is waited for', async () => {
    const reporter = new LedgerReporter(parts.context, 'me', {})
    await settled(reporter.admit({ id: 'r', provider: 'fake' }))
    expect(await statusOf('r')).toBe('provisioning')
    reporter.opened({ id: 'r', provider: 'fake' })
    await settled(reporter.admit({ id: 'r', provider: 'fake' }))
    expect(await statusOf('r')).toBe('running')
    reporter.closed('r')
    await settled(reporter.stop())
    expect(await statusOf('r')).toBe('terminated')
  })
})

describe('a tick', () => {
  test('samples, cleans up, compares and forgets', async () => {
    await given(parts, 'a')
    await given(parts, 'held', {
      lease: { kind: 'owner', holder: 'o', until: parts.clock.now() + 1000 * HOUR_MS },
    })
    await settled(fleet.tick())
    expect((await store.get('held'))?.samples).toHaveLength(1)
    await parts.clock.advance(31 * 24 * HOUR_MS)
    expect((await settled(fleet.tick())).pruned).toBeGreaterThan(0)
    expect(await store.get('a')).toBeUndefined()
  })

  test('tells its alerts, and keeps what it has told', async () => {
    const told: string[] = []
    const sink: AlertSink = { send: ({ name, state }) => void told.push(`${name} ${state}`) }
    const { clock, driver } = parts
    const alerting = new Fleet({
      store,
      drivers: [driver],
      environment: 'test',
      clock,
      alertSinks: [sink],
      alerts: { leakActive: 0, leakActiveClear: 0 },
    })
    await given(parts, 'a', { lease: { kind: 'owner', holder: 'o', until: clock.now() + HOUR_MS } })
    await settled(alerting.alerts())
    await clock.advance(6 * MINUTE_MS)
    await settled(alerting.alerts())
    expect(told).toContain('sandbox_leak_detected firing')
    expect(await store.readState('alerts:test')).toMatchObject({
      sandbox_leak_detected: { isFiring: true },
    })
  })
})
