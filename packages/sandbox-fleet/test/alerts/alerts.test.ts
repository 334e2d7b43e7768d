import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  type Alert,
  Fleet,
  type FleetPolicyInput,
  MemoryFleetStore,
  toPrometheusText,
} from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { FakeDriver, given } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

const MINUTE_MS = 60_000
const refuse = (): Promise<never> => Promise.reject(new Error('a write'))

/** So many places that the number of the runbook, 20, is the limit. */
const roomy = { maxConcurrentSandboxes: 100 }

interface AlertSetup {
  readonly sinks?: readonly { send: (alert: Alert) => void }[]
  readonly policy?: FleetPolicyInput
  readonly hasCleanup?: boolean
}

function setupAlerts({ hasCleanup = true, policy = roomy, sinks = [] }: AlertSetup = {}) {
  const clock = new ManualClock(1_700_000_000_000)
  const store = new MemoryFleetStore()
  // A cleanup has just ended.
  if (hasCleanup) void store.writeState('heartbeat:test', { cleanupAt: clock.now() })
  const driver = new FakeDriver()
  const logger = new RecordingLogger()
  const told: string[] = []
  const recording = { send: (alert: Alert) => void told.push(`${alert.name} ${alert.state}`) }
  const fleet = new Fleet({
    store,
    drivers: [driver],
    environment: 'test',
    clock,
    logger,
    policy,
    alertSinks: [...sinks, recording],
  })
  return { clock, store, driver, logger, fleet, told }
}

describe('the alerts of a fleet', () => {
  test('too many active sandboxes, until they are fewer again', async () => {
    const parts = setupAlerts()
    const { clock, fleet, store, told } = parts
    for (let n = 0; n < 21; n += 1) await given(parts, `a${n}`, { idleMs: 0 })
    expect(await fleet.alerts()).toEqual([])
    await clock.advance(5 * MINUTE_MS)
    expect(await fleet.alerts()).toMatchObject([
      { name: 'sandbox_leak_detected', severity: 'critical', value: 21, threshold: 20 },
    ])
    expect(told).toEqual(['sandbox_leak_detected firing'])
    for (let n = 0; n < 6; n += 1) {
      const record = await fleet.get(`a${n}`)
      const lease = { kind: 'detached', holder: 's', until: clock.now() + 1e9 } as const
      await store.update({ ...record, version: record.version + 1, lease })
    }
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    await fleet.alerts()
    expect(told).toEqual(['sandbox_leak_detected firing', 'sandbox_leak_detected resolved'])
  })

  test('a fleet of the default size that stays full is told, and passed on', async () => {
    const parts = setupAlerts({ policy: {} })
    const { clock, fleet, told } = parts
    for (let n = 0; n < 9; n += 1) await given(parts, `a${n}`, { idleMs: 0 })
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    expect(await fleet.alerts()).toEqual([])
    const open = (id: string) => fleet.admission.open({ id, provider: 'fake' }, async () => {})
    const lease = await open('last')
    expect(await codeOf(open('one-too-many'))).toBe('capacity-exhausted')
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    expect(await fleet.alerts()).toMatchObject([
      { name: 'sandbox_leak_detected', value: 10, threshold: 9, escalate: false },
    ])
    await clock.advance(25 * MINUTE_MS)
    const firing = await fleet.alerts()
    expect(firing.find(({ name }) => name === 'sandbox_leak_detected')?.escalate).toBe(true)
    expect(told.filter((text) => text === 'sandbox_leak_detected firing')).toHaveLength(2)
    await lease.release()
  })

  test('a small fleet that works is not told to leak, only one that has more than it may', async () => {
    const parts = setupAlerts({ policy: { maxConcurrentSandboxes: 2 } })
    const { clock, fleet, told } = parts
    const leakTold = () => told.filter((text) => text.startsWith('sandbox_leak_detected'))
    for (const id of ['a', 'b']) await given(parts, id, { idleMs: 0 })
    await fleet.alerts()
    await clock.advance(60 * MINUTE_MS)
    await fleet.alerts()
    expect(leakTold()).toEqual([])
    await given(parts, 'one-too-many', { idleMs: 0 })
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    await fleet.alerts()
    expect(leakTold()).toEqual(['sandbox_leak_detected firing'])
    await fleet.terminate('one-too-many')
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    await fleet.alerts()
    expect(leakTold()).toEqual(['sandbox_leak_detected firing', 'sandbox_leak_detected resolved'])
  })

  test('looks of one process at once tell once, and a look that changes nothing writes nothing', async () => {
    const parts = setupAlerts()
    const { clock, fleet, store, told } = parts
    for (let n = 0; n < 21; n += 1) await given(parts, `a${n}`, { idleMs: 0 })
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    await Promise.all([fleet.alerts(), fleet.alerts(), fleet.alerts()])
    expect(told).toEqual(['sandbox_leak_detected firing'])
    Object.assign(store, { acquireLease: refuse, releaseLease: refuse, writeState: refuse })
    expect(await fleet.alerts()).toHaveLength(1)
  })

  test('too many timeouts, once there are enough operations to tell', async () => {
    const { clock, fleet, store, told } = setupAlerts()
    await store.addUsage({ executions: 10, timeouts: 5 }, clock.now())
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    await fleet.alerts()
    expect(told).toEqual([])
    await store.addUsage({ executions: 90, timeouts: 1 }, clock.now())
    await fleet.alerts()
    await clock.advance(5 * MINUTE_MS)
    expect(await fleet.alerts()).toMatchObject([{ name: 'sandbox_timeout_high', value: 0.06 }])
    expect(told).toEqual(['sandbox_timeout_high firing'])
  })

  test('no cleanup for three intervals, until one has ended', async () => {
    const { clock, fleet, told } = setupAlerts()
    await fleet.alerts()
    await clock.advance(15 * MINUTE_MS)
    await fleet.alerts()
    expect(told).toEqual([])
    await clock.advance(MINUTE_MS)
    expect(await fleet.alerts()).toMatchObject([{ name: 'sandbox_cleanup_not_running' }])
    await fleet.tick()
    expect(told).toEqual([
      'sandbox_cleanup_not_running firing',
      'sandbox_cleanup_not_running resolved',
    ])
  })

  test('no cleanup has ever ended: fires at the first look, by the age of the first sandbox', async () => {
    const parts = setupAlerts({ hasCleanup: false })
    const { fleet } = parts
    await given(parts, 'first', { ageMs: 16 * MINUTE_MS })
    await given(parts, 'second', { ageMs: MINUTE_MS })
    const stats = await fleet.stats()
    expect([stats.lastCleanupAt, toPrometheusText(stats, [])]).toEqual([
      undefined,
      expect.stringMatching(/last_cleanup_timestamp_seconds\{[^}]*\} 0\n/),
    ])
    expect(await fleet.alerts()).toMatchObject([
      { name: 'sandbox_cleanup_not_running', value: 16 * MINUTE_MS, state: 'firing' },
    ])
    await fleet.cleanup()
    expect(await fleet.alerts()).toEqual([])
  })

  test('no cleanup has ever ended and nothing was ever made: no alert, however long one looks', async () => {
    const { clock, fleet } = setupAlerts({ hasCleanup: false })
    await fleet.alerts()
    await clock.advance(60 * MINUTE_MS)
    expect(await fleet.alerts()).toEqual([])
    expect((await fleet.stats()).lastCleanupAt).toBeUndefined()
  })

  test('one place whose operations all time out is noticed', async () => {
    const policy = { maxConcurrentSandboxes: 1 }
    const { clock, fleet, store, told } = setupAlerts({ policy })
    for (let n = 0; n < 4; n += 1) {
      await clock.advance(5.5 * MINUTE_MS)
      await store.addUsage({ executions: 1, timeouts: 1 }, clock.now())
      await store.writeState('heartbeat:test', { cleanupAt: clock.now() })
      await fleet.alerts()
    }
    expect(told).toEqual(['sandbox_timeout_high firing'])
  })

  test('are kept by the ledger: two processes do not tell twice', async () => {
    const { clock, fleet, store, told } = setupAlerts()
    const other = new Fleet({ store, drivers: [], environment: 'test', clock, alertSinks: [] })
    await fleet.alerts()
    await clock.advance(16 * MINUTE_MS)
    expect((await other.alerts()).map(({ name }) => name)).toEqual(['sandbox_cleanup_not_running'])
    expect((await fleet.alerts()).map(({ name }) => name)).toEqual(['sandbox_cleanup_not_running'])
    expect(told).toEqual([])
  })

  test('a sink that fails is logged, and the others get theirs', async () => {
    const broken = {
      send: () => {
        throw new Error('down')
      },
    }
    const { clock, fleet, logger, told } = setupAlerts({ sinks: [broken] })
    await fleet.alerts()
    await clock.advance(16 * MINUTE_MS)
    await fleet.alerts()
    expect(told).toEqual(['sandbox_cleanup_not_running firing'])
    expect(logger.with('Sandbox alert lost')).toHaveLength(1)
  })
})

const alert: Alert = {
  name: 'sandbox_leak_detected',
  severity: 'critical',
  state: 'firing',
  environment: 'test',
  value: 21,
  threshold: 20,
  message: '21 sandboxes are active',
  escalate: false,
  since: 1,
  at: 2,
}

describe('metrics', () => {
  test('Prometheus reads every line', async () => {
    const { fleet } = setupAlerts()
    const stats = { ...(await fleet.stats()), environment: 'a"b\\c\nd' }
    const text = toPrometheusText(stats, [alert])
    expect(text.endsWith('\n')).toBe(true)
    const sample = /^[a-z_]+\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\} -?[0-9.e+]+$/
    const lines = text.trimEnd().split('\n')
    expect(lines.filter((line) => !line.startsWith('#') && !sample.test(line))).toEqual([])
    expect(text).toContain('alert="sandbox_leak_detected"} 1')
    expect(text).toContain('alert="sandbox_timeout_high"} 0')
  })
})
