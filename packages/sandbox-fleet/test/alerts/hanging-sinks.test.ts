// What gets alerts and events is code of others: it may hang, throw, or reject later.
import { ManualClock } from '@helix-agents/core/testing'
import {
  type Alert,
  type AlertSink,
  Fleet,
  MemoryFleetStore,
  startFleetTimer,
} from '@helix-agents/sandbox-fleet'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finish, MINUTE_MS } from '../fleet-harness.ts'
import { TestDriver } from '../http/harness.ts'

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(() => void process.off('unhandledRejection', onUnhandled))

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A fleet whose cleanup has not run for long. */
async function neglected(alertSinks: readonly AlertSink[], store = new MemoryFleetStore()) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const driver = new TestDriver()
  const options = { store, drivers: [driver], environment: 'test', clock, alertSinks }
  const fleet = new Fleet(options)
  await fleet.tick()
  await clock.advance(60 * MINUTE_MS)
  return { clock, fleet, store }
}

const hangs: AlertSink = { send: () => new Promise(() => undefined) }

describe('a sink of alerts that hangs', () => {
  test('neither holds up the alerts nor keeps them from the other sinks', async () => {
    const sent: Alert[] = []
    const { clock, fleet } = await neglected([hangs, { send: (alert) => void sent.push(alert) }])
    const alerts = fleet.alerts()
    await turn()
    expect(sent).toHaveLength(1)
    expect((await finish(clock, alerts)).map(({ name }) => name)).toEqual([
      'sandbox_cleanup_not_running',
    ])
  })
})

test('a ledger that does not take back the lease of the alerts keeps none from the sinks', async () => {
  const sent: Alert[] = []
  const store = new MemoryFleetStore()
  const { fleet } = await neglected([{ send: (alert) => void sent.push(alert) }], store)
  store.releaseLease = async () => Promise.reject(new Error('away'))
  await Promise.allSettled([fleet.alerts()])
  expect(sent.map(({ name }) => name)).toEqual(['sandbox_cleanup_not_running'])
})

describe('a callback that rejects later ends no process', () => {
  test('onEvent', async () => {
    const clock = new ManualClock(1000)
    const driver = new TestDriver()
    const fleet = new Fleet({
      store: new MemoryFleetStore(),
      drivers: [driver],
      environment: 'test',
      clock,
      onEvent: async () => Promise.reject(new Error('no')),
    })
    await fleet.admission.open({ id: 'sb-1', provider: 'test' }, async () => undefined)
    await turn()
    expect(unhandled).toEqual([])
  })

  test('onHoldEnding, as the guide has it', async () => {
    const clock = new ManualClock(1000)
    const fleet = new Fleet({
      store: new MemoryFleetStore(),
      drivers: [new TestDriver()],
      environment: 'test',
      clock,
      policy: { maxHoldMs: 5 * MINUTE_MS },
    })
    let warned = 0
    await fleet.admission.open(
      {
        id: 'sb-1',
        provider: 'test',
        onHoldEnding: async () => {
          warned += 1
          throw new Error('no such session')
        },
      },
      async () => undefined,
    )
    await clock.advance(MINUTE_MS)
    await turn()
    expect([warned, unhandled]).toEqual([1, []])
  })

  test('onTick', async () => {
    const { clock, fleet } = await neglected([])
    let ticks = 0
    const onTick = async (): Promise<void> => {
      ticks += 1
      throw new Error('no')
    }
    const stop = startFleetTimer(fleet, { clock, onTick })
    await turn()
    await clock.advance(5 * MINUTE_MS)
    await turn()
    await stop()
    expect([ticks, unhandled]).toEqual([2, []])
  })
})
