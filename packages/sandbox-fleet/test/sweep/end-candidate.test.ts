// One sandbox of a pass: what is asked of the ledger and the provider before it is ended.
import { FleetError } from '@helix-agents/core/runtime'
import { MemoryFleetStore, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test, vi } from 'vitest'
import { endCandidate } from '../../src/sweep/end-candidate.ts'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import { finish, type Fleetlet, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf, killed } from '../store/store-samples.ts'
import { end, passOf, toEnd, withLedgerClock } from './pass.ts'

const CALL_MS = 10_000
const TERMINATE_MS = 30_000
/** With no retries of reads: a destroy, and three questions. */
const ATTEMPT_MS = TERMINATE_MS + 3 * CALL_MS

/** One whose destroy is owed. */
async function owing(fleet: Fleetlet, id: string, attempts = 1): Promise<SandboxRecord> {
  const before = killed(await given(fleet, id), fleet.clock.now())
  const record = { ...before, owed: { ...before.owed!, attempts } }
  await fleet.store.update(record)
  return record
}

describe('what a pass may not do any more', () => {
  test('costs neither the ledger nor the provider a call', async () => {
    const fleet = setup()
    const candidates = [
      toEnd(await given(fleet, 'a')),
      toEnd(await owing(fleet, 'b'), 'retry'),
    ] as const
    const get = vi.spyOn(fleet.store, 'get')
    const pass = await passOf(fleet, { kills: 0, retries: 0 })
    const unasked = await passOf({ context: { ...fleet.context, environment: 'x' } }, { probes: 0 })
    expect(await end(fleet, candidates[0], pass)).toBe('over-budget')
    expect(await end(fleet, candidates[1], pass)).toBe('over-budget')
    expect(await end(fleet, candidates[0], { ...unasked, context: fleet.context })).toBe(
      'over-budget',
    )
    expect(get).not.toHaveBeenCalled()
    expect(fleet.driver.calls).toEqual([])
  })

  test('is not done by two that begin at once', async () => {
    const fleet = setup()
    const pass = await passOf(fleet, { kills: 1, retries: 1 })
    const ends = [toEnd(await given(fleet, 'a')), toEnd(await given(fleet, 'b'))]
    const retries = [
      toEnd(await owing(fleet, 'c'), 'retry'),
      toEnd(await owing(fleet, 'd'), 'retry'),
    ]
    const outcomes = [...ends, ...retries].map((one) => endCandidate(one, pass))
    expect(await finish(fleet.clock, Promise.all(outcomes))).toEqual([
      'destroyed',
      'over-budget',
      'destroyed',
      'over-budget',
    ])
    expect(fleet.driver.terminated.toSorted()).toEqual(['a', 'c'])
    expect(pass.used).toEqual({ kills: 1, retries: 1, probes: 1 })
  })

  test('counts what was ended or is owed, and each question', async () => {
    const fleet = setup()
    const pass = await passOf(fleet)
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true })
    expect(await end(fleet, toEnd(await given(fleet, 'a')), pass)).toBe('owner-alive')
    expect(pass.used).toEqual({ kills: 0, retries: 0, probes: 1 })
    fleet.driver.onInspect = () => ({ state: 'running' })
    expect(await end(fleet, toEnd(await given(fleet, 'b')), pass)).toBe('owed')
    expect(pass.used).toEqual({ kills: 1, retries: 0, probes: 2 })
    expect(await end(fleet, toEnd(await owing(fleet, 'c'), 'retry'), pass)).toBe('owed')
    expect(pass.used).toEqual({ kills: 1, retries: 1, probes: 2 })
  })

  test('does not count an end that failed before anything was ended', async () => {
    const fleet = setup()
    const pass = await passOf(fleet)
    const candidate = toEnd(await given(fleet, 'a'))
    fleet.store.update = () => Promise.reject(new FleetError('unavailable', 'no answer'))
    expect(await codeOf(end(fleet, candidate, pass))).toBe('unavailable')
    expect(pass.used).toEqual({ kills: 0, retries: 0, probes: 1 })
  })
})

describe('one that is no longer as it was found', () => {
  test('is left alone, and nobody is asked', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    const pass = await passOf(fleet)
    const unheardOf = toEnd({ ...record, id: 'b' })
    expect(await end(fleet, unheardOf, pass)).toBe('changed')
    await fleet.store.update(killed(record, fleet.clock.now()))
    expect(await end(fleet, toEnd(record), pass)).toBe('changed')
    expect(await end(fleet, toEnd(await given(fleet, 'c'), 'retry'), pass)).toBe('changed')
    expect(fleet.driver.calls).toEqual([])
  })

  test('is left alone when its provider has no driver any more', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a', { provider: 'no-longer-configured' })
    expect(await end(fleet, toEnd(record), await passOf(fleet))).toBe('no-driver')
  })

  test('is judged by the time of the ledger, also when the clock of the process leaps', async () => {
    const fleet = withLedgerClock()
    const pass = await passOf(fleet)
    const owed = killed(await given(fleet, 'a'), fleet.clock.now() + ATTEMPT_MS)
    await fleet.store.update(owed)
    await finish(fleet.clock, fleet.context.clock.keepTime())
    fleet.clock.aheadMs = HOUR_MS
    expect(await end(fleet, toEnd(owed, 'retry'), pass)).toBe('changed')
    expect(fleet.driver.calls).toEqual([])
  })

  test('is not gone by a clock that leaps while its provider is asked: it may still arrive', async () => {
    const fleet = withLedgerClock()
    const pass = await passOf(fleet, { mode: 'emergency' })
    const record = await given(fleet, 'a', {
      status: 'provisioning',
      provisionDeadlineAt: fleet.clock.now() + MINUTE_MS,
    })
    await finish(fleet.clock, fleet.context.clock.keepTime())
    fleet.driver.onInspect = async () => {
      fleet.driver.onInspect = () => ({ state: 'absent' })
      fleet.clock.aheadMs = HOUR_MS
      return { state: 'absent' }
    }
    expect(await end(fleet, toEnd(record), pass)).toBe('owed')
    expect(fleet.driver.terminated).toEqual(['a'])
  })

  test.each(['destroy', 'retry'] as const)('is left alone when %s comes second', async (action) => {
    const fleet = setup()
    const pass = await passOf(fleet)
    const record = action === 'retry' ? await owing(fleet, 'a') : await given(fleet, 'a')
    fleet.store.update = () => Promise.reject(new FleetError('conflict', 'another was faster'))
    expect(await end(fleet, toEnd(record, action), pass)).toBe('changed')
    expect(fleet.driver.terminated).toEqual([])
  })

  test.each(['destroy', 'retry'] as const)('is left to the next sweeper: %s', async (action) => {
    const fleet = setup()
    const pass = await passOf(fleet)
    const record = action === 'retry' ? await owing(fleet, 'a') : await given(fleet, 'a')
    // Its own lease seems fresh: only the ledger knows that another one has it.
    await pass.lease.release()
    await SweepLease.acquire({ ...fleet.context, instanceId: 'other' })
    expect(await codeOf(end(fleet, toEnd(record, action), pass))).toBe('lease-lost')
    expect(fleet.driver.terminated).toEqual([])
    expect(await fleet.store.get('a')).toEqual(record)
  })
})

describe('a destroy that is tried again', () => {
  test('is reserved until its time is over, and written down before it begins', async () => {
    const fleet = setup()
    const record = await owing(fleet, 'a', 3)
    const now = fleet.clock.now()
    let seen: SandboxRecord | undefined
    fleet.driver.onTerminate = async () => {
      seen = await fleet.store.get('a')
    }
    await end(fleet, toEnd(record, 'retry'), await passOf(fleet))
    expect(seen?.owed).toEqual({ since: now, attempts: 3, nextAttemptAt: now + ATTEMPT_MS })
    expect(seen?.version).toBe(record.version + 1)
  })

  test('is reserved also where the ledger does not say since when it is owed', async () => {
    const fleet = setup()
    const { owed: _, ...record } = killed(await given(fleet, 'a'), 0)
    await fleet.store.update(record)
    let seen: SandboxRecord | undefined
    fleet.driver.onTerminate = async () => {
      seen = await fleet.store.get('a')
    }
    const now = fleet.clock.now()
    await end(fleet, toEnd(record, 'retry'), await passOf(fleet))
    expect(seen?.owed).toEqual({ since: now, attempts: 0, nextAttemptAt: now + ATTEMPT_MS })
  })
})

describe('what its provider says', () => {
  test('that its state is unknown is counted', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    fleet.driver.onInspect = () => ({ state: 'unknown' })
    expect(await end(fleet, toEnd(record), await passOf(fleet))).toBe('unknown')
    expect(await fleet.store.get('a')).toMatchObject({ unknownProbes: 1, status: 'running' })
  })

  test('that it is gone is recorded, and said', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    fleet.driver.onInspect = () => ({ state: 'stopped' })
    expect(await end(fleet, toEnd(record), await passOf(fleet))).toBe('vanished')
    expect((await fleet.store.get('a'))?.history.at(-1)).toEqual({
      at: fleet.clock.now(),
      event: 'vanish',
      status: 'terminated',
      detail: 'found stopped (idle)',
    })
    expect(fleet.events).toMatchObject([{ type: 'vanished', sandboxId: 'a' }])
  })

  test.each([
    ['that it is gone', { state: 'absent' }],
    ['that it waits', { state: 'running', isDetached: true }],
    ['nothing', { state: 'unknown' }],
  ] as const)('%s is not recorded over what has changed since', async (_, probe) => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    fleet.driver.onInspect = async () => {
      await fleet.store.update({ ...record, operations: 7, version: record.version + 1 })
      return probe
    }
    expect(await end(fleet, toEnd(record), await passOf(fleet))).toBe('changed')
    expect(await fleet.store.get('a')).toMatchObject({ operations: 7, unknownProbes: 0 })
    expect(fleet.events).toEqual([])
  })

  test('that it waits for its session gives it the time from its last use on', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    fleet.driver.onInspect = () => ({ state: 'running', isDetached: true })
    expect(await end(fleet, toEnd(record), await passOf(fleet))).toBe('owner-alive')
    const until = record.lastActivityAt + fleet.context.policy.detachedRetentionMs
    const lease = { kind: 'detached', holder: 'its session', until }
    expect((await fleet.store.get('a'))?.lease).toEqual(lease)
  })

  test('counts once: one that has waited for its time is ended', async () => {
    const fleet = setup()
    const until = fleet.clock.now() - MINUTE_MS
    const record = await given(fleet, 'a', { lease: { kind: 'detached', holder: 's', until } })
    fleet.driver.onInspect = () => ({ state: 'running', isDetached: true })
    await end(fleet, toEnd(record), await passOf(fleet))
    expect(fleet.driver.terminated).toEqual(['a'])
  })

  test.each([
    ['an emergency', 'emergency', {}],
    ['a deadline', 'scheduled', { deadlineAt: 1 }],
  ] as const)('does not hold back %s', async (_, mode, fields) => {
    const fleet = setup()
    const record = await given(fleet, 'a', fields)
    fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true, isDetached: true })
    expect(await end(fleet, toEnd(record), await passOf(fleet, { mode }))).toBe('owed')
    expect(fleet.driver.terminated).toEqual(['a'])
    const by = `sweep:${mode}`
    expect((await fleet.store.get('a'))?.kill).toMatchObject({ by, at: fleet.clock.now() })
  })
})

test('an error that is not about this one alone ends the pass', async () => {
  class BrokenStore extends MemoryFleetStore {
    override get(): Promise<never> {
      return Promise.reject(new FleetError('unavailable', 'no answer'))
    }
  }
  const fleet = setup()
  const candidate = toEnd(await given(fleet, 'a'))
  const pass = await passOf(fleet)
  const broken = { ...pass, context: { ...fleet.context, store: new BrokenStore() } }
  expect(await codeOf(end(fleet, candidate, broken))).toBe('unavailable')
})
