import { inspect } from 'node:util'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  type Alert,
  analyticsSink,
  Fleet,
  type FleetPolicyInput,
  logAlertSink,
  MemoryFleetStore,
  meterEventSink,
  toPrometheusText,
  webhookAlertSink,
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
}

function setupAlerts({ policy = roomy, sinks = [] }: AlertSetup = {}) {
  const clock = new ManualClock(1_700_000_000_000)
  const store = new MemoryFleetStore()
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
      const claim = { kind: 'detached', holder: 's', until: clock.now() + 1e9 } as const
      await store.update({ ...record, version: record.version + 1, claim })
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

describe('sinks', () => {
  test('the log has the name of the alert as its text', async () => {
    const logger = new RecordingLogger()
    const sink = logAlertSink(logger)
    for (const one of [alert, { ...alert, severity: 'warning' }, { ...alert, state: 'resolved' }]) {
      await sink.send(one as Alert)
    }
    expect(logger.with('sandbox_leak_detected').map(({ level }) => level)).toEqual([
      'error',
      'warn',
      'info',
    ])
  })

  test('a webhook gets JSON, and its refusal or silence is a failure', async () => {
    const clock = new ManualClock()
    const calls: (readonly [string, RequestInit])[] = []
    const answers = [new Response('ok'), new Response('no', { status: 500 })]
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      calls.push([url, init])
      return answers.shift() ?? new Promise(() => undefined)
    }
    const address = { url: 'https://a.test/hook', headers: { x: 'y' }, retries: 0 }
    const sink = webhookAlertSink({ ...address, fetch, clock })
    await sink.send(alert)
    expect(calls[0]?.[1].body).toBe(JSON.stringify(alert))
    expect(calls[0]?.[1].headers).toMatchObject({ 'content-type': 'application/json', x: 'y' })
    await expect(sink.send(alert)).rejects.toMatchObject({ code: 'driver-failed' })
    const silent = codeOf(Promise.resolve(sink.send(alert)))
    await clock.advance(10_000)
    expect(await silent).toBe('driver-failed')
    expect(calls[2]?.[1].signal?.aborted).toBe(true)
  })

  test('a webhook that was away for a moment gets its alert', async () => {
    const clock = new ManualClock()
    const answers = [502, 200]
    const fetch = async () => new Response(null, { status: answers.shift() ?? 500 })
    const sending = webhookAlertSink({ url: 'https://a.test', fetch, clock }).send(alert)
    await clock.advance(10_000)
    await sending
    expect(answers).toEqual([])
  })

  test('what a webhook fails with names no address and no header', async () => {
    const url = 'https://hooks.test/services/secret-path'
    const fetch = () => Promise.reject(new TypeError(`cannot reach ${url}`))
    const options = { url, headers: { authorization: 'secret-token' }, fetch, retries: 0 }
    const error = await Promise.resolve(webhookAlertSink(options).send(alert)).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'driver-failed' })
    expect(inspect(error, { depth: 9 })).not.toMatch(/secret/)
    expect(() => webhookAlertSink({ url: 'secret-no-address' })).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    )
  })

  test('a webhook that sends elsewhere is a failure, and is not followed', async () => {
    const seen: unknown[] = []
    const fetch = async (_: string, { redirect }: RequestInit) => {
      seen.push(redirect)
      return new Response(null, { status: 307, headers: { location: 'http://169.254.169.254/' } })
    }
    const sink = webhookAlertSink({ url: 'https://a.test', fetch, retries: 0 })
    await expect(sink.send(alert)).rejects.toMatchObject({ code: 'driver-failed' })
    expect(seen).toEqual(['manual'])
  })

  test('Analytics Engine gets one index a point', () => {
    const points: { indexes?: string[]; blobs?: string[] }[] = []
    const sink = analyticsSink({ writeDataPoint: (point) => void points.push(point) })
    sink.onEvent({
      type: 'kill',
      sandboxId: 'a',
      provider: 'p',
      environment: 'e',
      at: 1,
      reason: 'idle',
    })
    void sink.send(alert)
    expect(points.map(({ indexes }) => indexes)).toEqual([['sandbox:lifecycle'], ['sandbox:alert']])
    expect(points[0]?.blobs).toEqual(['kill', 'a', 'p', 'e', 'idle'])
  })

  test('a meter counts by event, provider and reason', () => {
    const added: unknown[] = []
    const meter = { createCounter: () => ({ add: (...args: unknown[]) => void added.push(args) }) }
    const sink = meterEventSink(meter)
    sink({ type: 'kill', sandboxId: 'a', provider: 'p', environment: 'e', at: 1, reason: 'idle' })
    expect(added).toEqual([[1, { event: 'kill', provider: 'p', environment: 'e', reason: 'idle' }]])
  })

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
