// A destroy from its intent to its end: what is recorded, who is told, and what counts as gone.
import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { targetOf } from '../../src/fleet-context.ts'
import { createRecord } from '../../src/ledger/lifecycle.ts'
import { attemptMs, destroyRecorded, recordIntent } from '../../src/sweep/destroy.ts'
import { finish, type Fleetlet, given, HOUR_MS, setup } from '../fleet-harness.ts'
import { codeOf, killed, newRecord } from '../store/store-samples.ts'
import { passOf, withLedgerClock } from './pass.ts'

const kill = { reason: 'idle', detail: 'nothing happened', by: 'test' } as const

async function intended(fleet: Fleetlet, id = 'a'): Promise<SandboxRecord> {
  const record = killed(await given(fleet, id), fleet.clock.now())
  await fleet.store.update(record)
  return record
}

function destroy({ clock, context }: Fleetlet, record: SandboxRecord, driver = 'fake') {
  return finish(clock, destroyRecorded(context, record, context.drivers.get(driver)!))
}

describe('the intent', () => {
  test('is recorded with its reason before anything is destroyed, and said', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    const { lease } = await passOf(fleet)
    const next = await recordIntent(fleet.context, record, kill, await lease.keep())
    const now = fleet.clock.now()
    expect(next).toMatchObject({
      status: 'terminating',
      kill: { ...kill, at: now },
      owed: { since: now, attempts: 0, nextAttemptAt: now + 60_000 },
    })
    expect(await fleet.store.get('a')).toEqual(next)
    expect(fleet.events).toMatchObject([{ type: 'kill', sandboxId: 'a', reason: 'idle', at: now }])
  })

  test('without a reason is refused, naming the sandbox', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    const { lease } = await passOf(fleet)
    const fence = await lease.keep()
    const intent = recordIntent(fleet.context, record, { ...kill, detail: ' ' }, fence)
    await expect(intent).rejects.toMatchObject({ code: 'invalid-record', sandboxId: 'a' })
    expect(await fleet.store.get('a')).toEqual(record)
  })

  test('lasts as long as a destroy and three questions, each with its retries', () => {
    const policy = { terminateTimeoutMs: 7, callTimeoutMs: 10 }
    const lasts = (callRetries: number) =>
      attemptMs(setup({ policy: { ...policy, callRetries } }).context)
    expect([0, 1, 2].map(lasts)).toEqual([37, 67, 97])
  })
})

describe('a destroy that is confirmed', () => {
  test('is recorded, and said', async () => {
    const fleet = setup()
    const record = await intended(fleet)
    expect(await destroy(fleet, record)).toBe('destroyed')
    expect(fleet.driver.calls).toEqual(['terminate a', 'inspect a'])
    expect((await fleet.store.get('a'))?.history.at(-1)).toEqual({
      at: fleet.clock.now(),
      event: 'destroyed',
      status: 'terminated',
    })
    expect(fleet.events).toMatchObject([{ type: 'destroyed', sandboxId: 'a' }])
  })

  test.each([
    ['lives again', (record: SandboxRecord) => createRecord({ ...newRecord(record.id) })],
    ['is to be destroyed again', (record: SandboxRecord) => ({ ...record })],
  ])('changes nothing of a next generation that %s', async (_, make) => {
    for (const state of ['absent', 'running'] as const) {
      const fleet = setup()
      const record = await intended(fleet)
      const next = {
        ...make(record),
        generation: record.generation + 1,
        version: record.version + 1,
      }
      fleet.driver.onTerminate = () => fleet.store.update(next)
      fleet.driver.onInspect = () => ({ state })
      await destroy(fleet, record)
      expect(await fleet.store.get('a')).toEqual(next)
    }
  })

  test('changes nothing of one that its owner has taken back', async () => {
    for (const state of ['absent', 'running'] as const) {
      const fleet = setup()
      const record = await intended(fleet)
      const next = { ...record, status: 'running' as const, version: record.version + 1 }
      fleet.driver.onTerminate = () => fleet.store.update(next)
      fleet.driver.onInspect = () => ({ state })
      await destroy(fleet, record)
      expect(await fleet.store.get('a')).toEqual(next)
    }
  })

  test('is one by the time of the ledger: what may still arrive is not gone', async () => {
    const fleet = withLedgerClock()
    const made = await given(fleet, 'a', { status: 'provisioning', ageMs: 0 })
    const record = killed(made, 0)
    await fleet.store.update(record)
    await finish(fleet.clock, fleet.context.clock.keepTime())
    fleet.driver.onInspect = async () => {
      fleet.clock.aheadMs = HOUR_MS
      return { state: 'absent' }
    }
    expect(await destroy(fleet, record)).toBe('owed')
    expect((await fleet.store.get('a'))?.status).toBe('terminating')
  })
})

describe('a destroy that is not confirmed', () => {
  test('is told to operators, with what was thrown', async () => {
    const fleet = setup()
    const record = await intended(fleet)
    const err = new Error('no way')
    fleet.driver.onTerminate = () => Promise.reject(err)
    expect(await destroy(fleet, record)).toBe('owed')
    const stored = await fleet.store.get('a')
    expect(stored?.lastError).toMatchObject({ code: 'driver-failed', at: fleet.clock.now() })
    const [line] = fleet.logger.with(fleetMessages.destroyOwed)
    expect(line).toMatchObject({
      level: 'warn',
      fields: { sandboxId: 'a', attempts: 1, code: 'driver-failed' },
    })
    expect(line?.fields).toHaveProperty('err.cause', err)
    expect(fleet.events).toMatchObject([{ type: 'destroy-failed', sandboxId: 'a' }])
  })

  test('says what is known of its state', async () => {
    const fleet = setup()
    const record = await intended(fleet)
    fleet.driver.onInspect = () => ({ state: 'unknown' })
    await destroy(fleet, record)
    const error = { code: 'not-confirmed', message: 'after the destroy its state is unknown. ' }
    expect((await fleet.store.get('a'))?.lastError).toMatchObject(error)
    const fields = { sandboxId: 'a', attempts: 1, code: 'not-confirmed', err: error }
    expect(fleet.logger.with(fleetMessages.destroyOwed)).toMatchObject([{ fields }])
  })

  test('whose result cannot be recorded fails', async () => {
    const fleet = setup()
    const record = await intended(fleet)
    fleet.driver.onInspect = () => ({ state: 'running' })
    fleet.store.update = () => Promise.reject(new FleetError('unavailable', 'no answer'))
    expect(await codeOf(destroy(fleet, record))).toBe('unavailable')
  })

  test.each([
    [0, 0.5, 5000],
    [0, 0, 3750],
    [0, 0.999, 6248],
    [1, 0.5, 10_000],
    [3, 0.5, 40_000],
    [5, 0.5, 160_000],
    [6, 0.5, 300_000],
    [60, 0.5, 300_000],
    [undefined, 0.5, 5000],
  ])(
    'after %s attempts, at %s of its spread, is tried after %s ms',
    async (attempts, random, ms) => {
      const fleet = setup()
      const { owed, ...rest } = killed(await given(fleet, 'a'), 0)
      const record = attempts === undefined ? rest : { ...rest, owed: { ...owed!, attempts } }
      await fleet.store.update(record)
      fleet.driver.onInspect = () => ({ state: 'running' })
      const context = { ...fleet.context, random: () => random }
      await destroy({ ...fleet, context }, record)
      expect((await fleet.store.get('a'))?.owed).toMatchObject({
        attempts: (attempts ?? 0) + 1,
        nextAttemptAt: fleet.clock.now() + ms,
      })
    },
  )
})

test('the driver is asked about the generation that is destroyed', async () => {
  const fleet = setup()
  const record = await intended(fleet)
  const targets: unknown[] = []
  fleet.driver.onTerminate = (target) => void targets.push(target)
  fleet.driver.onInspect = (target) => {
    targets.push(target)
    return { state: 'absent' }
  }
  await destroy(fleet, record)
  expect(targets).toEqual([targetOf(record), targetOf(record)])
})
