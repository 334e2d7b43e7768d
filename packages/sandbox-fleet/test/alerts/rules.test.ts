// Each alert at its bounds, with all that is sent of it.
import { FleetError } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import {
  type Alert,
  fleetMessages,
  type FleetStats,
  MemoryFleetStore,
} from '@helix-agents/sandbox-fleet'
import { describe, expect, test, vi } from 'vitest'
import { type AlertPolicyInput, parseAlertPolicy } from '../../src/alerts/alert.ts'
import { evaluateAlerts } from '../../src/alerts/evaluate-alerts.ts'
import { MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

/** At once, and with limits that differ from each other. */
const LIMITS: AlertPolicyInput = {
  timeoutMinExecutions: 10,
  timeoutRatio: 0.5,
  timeoutRatioClear: 0.2,
  leakActive: 20,
  leakActiveClear: 15,
  escalateActive: 30,
  escalateAfterMs: 30 * MINUTE_MS,
  missedPasses: 3,
  owedDestroys: 3,
  forMs: 1,
  clearForMs: 1,
}

function fleetOf(limits: AlertPolicyInput = LIMITS) {
  const fleet = setup()
  const { clock, context } = fleet
  const policy = parseAlertPolicy(limits, context.policy)
  const sent: Alert[] = []
  const sinks = [{ send: async (alert: Alert) => void sent.push(alert) }]
  const alerts = { fleet: context, policy, sinks }
  const calm: FleetStats = {
    environment: 'test',
    active: 0,
    provisioning: 0,
    running: 0,
    detached: 0,
    terminating: 0,
    failed: 0,
    totalCreated: 0,
    totalDestroyed: 0,
    capacity: 10,
    usedRatio: 0,
    usage: { executions: 0, timeouts: 0 },
    lastCleanupAt: clock.now(),
  }
  /** What fires when this is so for as long as it takes. */
  const firing = async (change: Partial<FleetStats>): Promise<readonly Alert[]> => {
    const stats = { ...calm, ...change }
    await evaluateAlerts(alerts, stats)
    await clock.advance(1)
    return evaluateAlerts(alerts, stats)
  }
  return { ...fleet, alerts, calm, firing, sent }
}

const usage = (executions: number, timeouts: number) => ({ usage: { executions, timeouts } })

describe('an alert', () => {
  test('of timeouts needs enough operations, and a share above its limit', async () => {
    const { clock, firing } = fleetOf()
    expect(await firing(usage(9, 9))).toEqual([])
    expect(await firing(usage(10, 5))).toEqual([])
    const since = clock.now()
    expect(await firing(usage(10, 6))).toEqual([
      {
        name: 'sandbox_timeout_high',
        severity: 'warning',
        value: 0.6,
        threshold: 0.5,
        message: '6 of 10 operations timed out',
        state: 'firing',
        environment: 'test',
        escalate: false,
        since,
        at: since + 1,
      },
    ])
    expect(await firing(usage(10, 2))).toHaveLength(1)
    expect(await firing(usage(100, 19))).toEqual([])
  })

  test('of timeouts ends when there are none, whatever its limit is', async () => {
    const { firing } = fleetOf({ ...LIMITS, timeoutRatio: 0.1, timeoutRatioClear: 0 })
    expect(await firing(usage(10, 2))).toHaveLength(1)
    expect(await firing(usage(10, 0))).toEqual([])
  })

  test('of a leak fires above one limit, and ends at the other', async () => {
    const { clock, firing, sent } = fleetOf()
    expect(await firing({ active: 20 })).toEqual([])
    const since = clock.now()
    const leak = {
      name: 'sandbox_leak_detected',
      severity: 'critical',
      value: 21,
      threshold: 20,
      message: '21 sandboxes are active',
      state: 'firing',
      environment: 'test',
      escalate: false,
      since,
      at: since + 1,
    }
    expect(await firing({ active: 21 })).toEqual([leak])
    expect(await firing({ active: 16 })).toHaveLength(1)
    expect(await firing({ active: 15 })).toEqual([])
    expect(sent).toEqual([
      leak,
      {
        ...leak,
        value: 15,
        message: '15 sandboxes are active',
        state: 'resolved',
        since: clock.now(),
        at: clock.now(),
      },
    ])
  })

  test('of a leak is passed on when it is severe for long enough', async () => {
    const { clock, firing, calm, sent } = fleetOf()
    const lastCleanupAt = calm.lastCleanupAt! + 60 * MINUTE_MS
    await firing({ active: 30, lastCleanupAt })
    await clock.advance(40 * MINUTE_MS)
    expect(await firing({ active: 30, lastCleanupAt })).toMatchObject([{ escalate: false }])
    expect(await firing({ active: 31, lastCleanupAt })).toMatchObject([{ escalate: true }])
    expect(sent.map(({ escalate }) => escalate)).toEqual([false, true])
  })

  test('of a cleanup that does not run fires and ends at once', async () => {
    const { clock, firing, calm, context, sent } = fleetOf()
    const allowedMs = 3 * context.policy.sweepIntervalMs
    await clock.advance(allowedMs - 1)
    expect(await firing({})).toEqual([])
    const since = clock.now() + 1
    await clock.advance(1)
    expect(await firing({})).toEqual([
      {
        name: 'sandbox_cleanup_not_running',
        severity: 'critical',
        value: allowedMs + 2,
        threshold: allowedMs,
        message: 'no cleanup has ended for 15 min',
        state: 'firing',
        environment: 'test',
        escalate: false,
        since,
        at: since + 1,
      },
    ])
    expect(sent).toHaveLength(1)
    await evaluateAlerts(
      {
        ...fleetOf().alerts,
        fleet: context,
        sinks: [{ send: async (one) => void sent.push(one) }],
      },
      { ...calm, lastCleanupAt: clock.now() },
    )
    expect(sent[1]).toMatchObject({ name: 'sandbox_cleanup_not_running', state: 'resolved' })
  })

  test('of a cleanup that never ran counts from the first sandbox', async () => {
    const { clock, alerts, calm, context } = fleetOf()
    const { lastCleanupAt: _, ...never } = calm
    const firstSandboxAt = clock.now()
    expect(await evaluateAlerts(alerts, never)).toEqual([])
    await clock.advance(3 * context.policy.sweepIntervalMs + MINUTE_MS)
    expect(await evaluateAlerts(alerts, never)).toEqual([])
    const message = 'no cleanup has ever ended, and the first sandbox was made 16 min ago'
    expect(await evaluateAlerts(alerts, { ...never, firstSandboxAt })).toMatchObject([{ message }])
  })

  test('of destroys that are owed', async () => {
    const { clock, firing } = fleetOf()
    expect(await firing({ terminating: 3 })).toEqual([])
    const since = clock.now()
    expect(await firing({ terminating: 4 })).toEqual([
      {
        name: 'sandbox_destroy_owed',
        severity: 'warning',
        value: 4,
        threshold: 3,
        message: '4 destroys are not confirmed',
        state: 'firing',
        environment: 'test',
        escalate: false,
        since,
        at: since + 1,
      },
    ])
    expect(await firing({ terminating: 3 })).toEqual([])
  })
})

describe('an evaluation', () => {
  test('that another process has begun is left to it', async () => {
    const { alerts, calm, context, sent } = fleetOf({ ...LIMITS, owedDestroys: 0 })
    const owed = { ...calm, terminating: 1 }
    const now = context.clock.now()
    const other = { name: 'alerts:test', holder: 'other', ttlMs: 90_000, now }
    const token = await context.store.acquireLease(other)
    await evaluateAlerts(alerts, owed)
    expect(await context.store.readState('alerts:test')).toBeUndefined()
    await context.store.releaseLease({ name: 'alerts:test', token: token! })
    await evaluateAlerts(alerts, owed)
    expect(await context.store.readState('alerts:test')).toMatchObject({
      sandbox_destroy_owed: { isFiring: false, pendingSince: now },
    })
    expect(sent).toEqual([])
    // It was given back.
    expect(await context.store.acquireLease(other)).toBeDefined()
  })

  test('is stored before the sinks are told, and waits for them', async () => {
    const parts = fleetOf()
    const { alerts, calm, clock, context } = parts
    const gate = Promise.withResolvers<void>()
    let stored: unknown
    const send = async (): Promise<void> => {
      stored = await context.store.readState('alerts:test')
      await gate.promise
    }
    const owed = { ...calm, terminating: 4 }
    await evaluateAlerts({ ...alerts, sinks: [{ send }] }, owed)
    await clock.advance(1)
    let isDone = false
    const done = evaluateAlerts({ ...alerts, sinks: [{ send }] }, owed).then(() => (isDone = true))
    await clock.advance(1)
    expect(stored).toMatchObject({ sandbox_destroy_owed: { isFiring: true } })
    expect(isDone).toBe(false)
    gate.resolve()
    await done
  })

  test('a sink that fails or hangs is logged, and the others are told', async () => {
    const parts = fleetOf()
    const { alerts, calm, clock, logger, sent } = parts
    const err = new Error('no')
    const hanging = { send: () => new Promise<void>(() => undefined) }
    const failing = {
      send: () => {
        throw err
      },
    }
    const all = { ...alerts, sinks: [failing, hanging, ...alerts.sinks] }
    const owed = { ...calm, terminating: 4 }
    await evaluateAlerts(all, owed)
    await clock.advance(1)
    const done = evaluateAlerts(all, owed)
    await clock.advance(60_000)
    await done
    expect(sent).toHaveLength(1)
    const lines = logger.with(fleetMessages.alertLost)
    expect(lines.map(({ fields, level }) => [level, fields])).toEqual([
      ['warn', { err, alert: 'sandbox_destroy_owed' }],
      ['warn', { err: new Error('the sink exceeded 60000 ms'), alert: 'sandbox_destroy_owed' }],
    ])
  })

  test.each(['writeState', 'releaseLease'] as const)('waits for %s', async (name) => {
    const { alerts, calm, context } = fleetOf()
    vi.spyOn(context.store, name).mockRejectedValue(new FleetError('unavailable', 'no answer'))
    const work = evaluateAlerts(alerts, { ...calm, terminating: 4 })
    expect(await codeOf(work)).toBe('unavailable')
  })

  test('of two processes that look at once stores and sends once', async () => {
    const clock = new ManualClock(1_700_000_000_000)
    const store = new MemoryFleetStore()
    const { alerts, calm, sent } = fleetOf()
    const each = ['a', 'b'].map((instanceId) => {
      const { context } = setup({ store, clock, instanceId })
      return { ...alerts, fleet: context }
    })
    const owed = { ...calm, terminating: 4, lastCleanupAt: clock.now() }
    await Promise.all(each.map((one) => evaluateAlerts(one, owed)))
    await clock.advance(1)
    await Promise.all(each.map((one) => evaluateAlerts(one, owed)))
    expect(sent).toHaveLength(1)
  })
})
