// Ending one sandbox by hand, in use or not.
import type { SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { terminateSandbox, type TerminateRequest } from '../../src/sweep/terminate-sandbox.ts'
import { finish, type Fleetlet, given, HOUR_MS, setup } from '../fleet-harness.ts'
import { gone, killed } from '../store/store-samples.ts'
import { withLedgerClock } from './pass.ts'

const operator = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const

function end({ clock, context }: Fleetlet, request: TerminateRequest = operator) {
  return finish(clock, terminateSandbox(context, 'a', request))
}

/** One whose destroy is owed, and is tried again after a while. */
async function owing(fleet: Fleetlet, waitMs: number, attempts = 0): Promise<SandboxRecord> {
  const before = killed(await given(fleet, 'a'), fleet.clock.now() + waitMs)
  const record = { ...before, owed: { ...before.owed!, attempts } }
  await fleet.store.update(record)
  return record
}

test('its intent is recorded and said, and then it is destroyed', async () => {
  const fleet = setup()
  await given(fleet, 'a')
  const now = fleet.clock.now()
  let seen: SandboxRecord | undefined
  fleet.driver.onTerminate = async ({ id }) => {
    seen = await fleet.store.get('a')
    fleet.driver.alive.delete(id)
  }
  expect(await end(fleet)).toBe('destroyed')
  expect(seen).toMatchObject({
    status: 'terminating',
    kill: { ...operator, at: now },
    owed: { since: now, attempts: 0, nextAttemptAt: now + 60_000 },
  })
  expect(fleet.events.map(({ type }) => type)).toEqual(['kill', 'destroyed'])
})

describe('nothing is ended', () => {
  test('without a record, a driver, or the label of this deployment', async () => {
    const unknown = end(setup())
    await expect(unknown).rejects.toMatchObject({ code: 'unknown-sandbox', sandboxId: 'a' })
    for (const fields of [{ provider: 'elsewhere' }, { environment: 'production' }]) {
      const fleet = setup()
      const record = await given(fleet, 'a', fields)
      await expect(end(fleet)).rejects.toMatchObject({ code: 'not-supported', sandboxId: 'a' })
      expect(await fleet.store.get('a')).toEqual(record)
      expect(fleet.driver.calls).toEqual([])
    }
  })

  test('without a reason, and the refusal names the sandbox', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    const ending = end(fleet, { ...operator, by: ' ' })
    await expect(ending).rejects.toMatchObject({ code: 'invalid-record', sandboxId: 'a' })
  })

  test('that is gone, or of a later life than is meant', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    expect(await end(fleet, { ...operator, generation: record.generation + 1 })).toBe('gone')
    expect(await fleet.store.get('a')).toEqual(record)
    const vanished = gone(record)
    await fleet.store.update(vanished)
    expect(await end(fleet)).toBe('gone')
    expect(await end(fleet, { ...operator, generation: record.generation })).toBe('gone')
    expect(await fleet.store.get('a')).toEqual(vanished)
    expect(fleet.driver.calls).toEqual([])
    expect(fleet.events).toEqual([])
  })

  test('of a life that is meant is left, though', async () => {
    const fleet = setup()
    const { generation } = await given(fleet, 'a')
    expect(await end(fleet, { ...operator, generation })).toBe('destroyed')
  })
})

describe('a destroy that is owed already', () => {
  test('is left to whoever does it, until its time is over', async () => {
    const fleet = setup()
    const record = await owing(fleet, 1)
    expect(await end(fleet)).toBe('in-progress')
    expect(await fleet.store.get('a')).toEqual(record)
    expect(fleet.driver.calls).toEqual([])
  })

  test.each([0, 3])('is tried again, and is the same end for its events: %s', async (attempts) => {
    const fleet = setup()
    const record = await owing(fleet, 0, attempts)
    const now = fleet.clock.now()
    let seen: SandboxRecord | undefined
    fleet.driver.onTerminate = async ({ id }) => {
      seen = await fleet.store.get('a')
      fleet.driver.alive.delete(id)
    }
    expect(await end(fleet)).toBe('destroyed')
    expect(seen?.kill).toEqual(record.kill)
    expect(seen?.owed).toEqual({ since: now, attempts, nextAttemptAt: now + 60_000 })
    expect(fleet.events.map(({ type }) => type)).toEqual(['destroyed'])
  })

  test('is due by the time of the ledger, also when the clock of the process leaps', async () => {
    const fleet = withLedgerClock()
    await owing(fleet, 60_000)
    await finish(fleet.clock, fleet.context.clock.keepTime())
    fleet.clock.aheadMs = HOUR_MS
    expect(await end(fleet)).toBe('in-progress')
    expect(fleet.driver.calls).toEqual([])
  })
})
