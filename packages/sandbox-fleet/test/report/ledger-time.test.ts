// A ledger with a clock: whatever is recorded or judged is so by its time, or not at all.
import { FleetError } from '@helix-agents/core/runtime'
import { Admission } from '../../src/admission/admission.ts'
import type { FleetContext } from '../../src/fleet-context.ts'
import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { beforeEach, describe, expect, test } from 'vitest'
import { applyAction } from '../../src/reconcile/apply-action.ts'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import {
  recordFailed,
  recordGone,
  recordOwed,
  recordReleased,
} from '../../src/report/ledger-ends.ts'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import {
  recordActivity,
  recordOpened,
  recordProvisioning,
  renewLease,
} from '../../src/report/ledger-writes.ts'
import { endCandidate } from '../../src/sweep/end-candidate.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, type Fleetlet, given, MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'
import { LeapingClock, passOf, toEnd } from '../sweep/pass.ts'

/** A ledger whose clock can fall silent. */
class LedgerWithClock extends MemoryFleetStore {
  isSilent = false
  readonly #clock: LeapingClock

  constructor(clock: LeapingClock) {
    super()
    this.#clock = clock
  }

  async now(): Promise<number> {
    if (this.isSilent) throw new FleetError('unavailable', 'no answer')
    return this.#clock.now() - this.#clock.aheadMs
  }
}

let store: LedgerWithClock
let clock: LeapingClock
let parts: Fleetlet
let fleet: Fleet
let context: FleetContext
beforeEach(async () => {
  clock = new LeapingClock(1_700_000_000_000)
  store = new LedgerWithClock(clock)
  parts = setup({ store, clock })
  ;({ context } = parts)
  const { driver } = parts
  fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
  await given(parts, 'a')
  await context.clock.keepTime()
  await fleet.now()
})

/** From now on nobody knows the time: what was told before may be wrong by now. */
function fallSilent(): void {
  store.isSilent = true
  clock.aheadMs += MINUTE_MS
}

const id = 'a'
const holder = 'me'
const ACTIVITY = {
  at: 1_700_000_000_000,
  operations: 1,
  timeouts: 0,
  timeoutsInARow: 0,
  succeeded: true,
  holder,
}

const OPERATIONS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['the time is told', () => fleet.now()],
  ['counts are told', () => fleet.stats()],
  ['the use of one is told', () => fleet.resources(id)],
  ['findings of one are told', () => fleet.diagnose(id)],
  ['findings are told', () => fleet.findings()],
  ['one is made', () => recordProvisioning(context, { id: 'new', provider: 'fake' }, { holder })],
  ['one is opened', () => recordOpened(context, { id: 'new', provider: 'fake' }, holder)],
  ['a lease is renewed', () => renewLease(context, id, { holder })],
  ['an activity is recorded', () => recordActivity(context, id, ACTIVITY)],
  ['one is released', () => recordReleased(context, id, { holder, waiting: undefined })],
  ['one is gone', () => recordGone(context, id, { detail: 'test' })],
  ['one is owed', () => recordOwed(context, id, { detail: 'test' })],
  ['one has failed', () => recordFailed(context, id, { code: 'c', message: 'm' })],
  [
    'one is ended',
    () => terminateSandbox(context, id, { reason: 'operator', detail: 'test', by: 'test' }),
  ],
]

describe('a clock of the ledger that does not answer: nothing is done by another one when', () => {
  test.each(OPERATIONS)('%s', async (_, operation) => {
    const before = await store.get(id)
    fallSilent()
    expect(await finish(clock, codeOf(operation()))).toBe('unavailable')
    expect(await store.get(id)).toEqual(before)
    expect(await store.get('new')).toBeUndefined()
    expect(parts.driver.calls).toEqual([])
  })

  test('a pass begins', async () => {
    fallSilent()
    const passes = [runCleanup(context, 'scheduled'), runReconcile(context)]
    expect(await finish(clock, Promise.all(passes))).toMatchObject([
      { outcome: 'store-failed' },
      { outcome: 'store-failed' },
    ])
    expect(parts.driver.calls).toEqual([])
  })

  test('a candidate is looked at again, and a lease is kept', async () => {
    const record = (await store.get(id))!
    const pass = await passOf(parts)
    fallSilent()
    expect(await finish(clock, codeOf(endCandidate(toEnd(record), pass)))).toBe('unavailable')
    expect(await finish(clock, codeOf(pass.lease.keep()))).toBe('unavailable')
    expect(parts.driver.calls).toEqual([])
  })

  test('a provider has been asked before one is ended', async () => {
    const record = (await store.get(id))!
    const pass = await passOf(parts)
    parts.driver.onInspect = () => {
      fallSilent()
      return { state: 'running' }
    }
    expect(await finish(clock, codeOf(endCandidate(toEnd(record), pass)))).toBe('unavailable')
    expect(await store.get(id)).toEqual(record)
    expect(parts.driver.terminated).toEqual([])
  })

  test('a destroy is to be confirmed', async () => {
    parts.driver.onInspect = () => {
      fallSilent()
      return { state: 'absent' }
    }
    expect(await finish(clock, codeOf(fleet.terminate(id)))).toBe('unavailable')
    expect(await store.get(id)).toMatchObject({ status: 'terminating' })
  })

  test('a record is to be healed', async () => {
    const lease = (await SweepLease.acquire(context))!
    parts.driver.onInspect = () => {
      fallSilent()
      return { state: 'absent' }
    }
    const action = { kind: 'heal-record', id, provider: 'fake', status: 'running' } as const
    const healed = applyAction(action, { context, lease, used: 0 })
    expect(await finish(clock, codeOf(healed))).toBe('unavailable')
    expect(await store.get(id)).toMatchObject({ status: 'running' })
  })

  const ORPHAN = { id: 'orphan', environment: 'test', ownerAlive: false, createdAt: 0 }

  test('an orphan was adopted', async () => {
    const lease = (await SweepLease.acquire(context))!
    parts.driver.onInspect = () => {
      fallSilent()
      return { state: 'absent' }
    }
    const action = { kind: 'end-orphan', id: 'orphan', provider: 'fake', listed: ORPHAN } as const
    const ended = applyAction(action, { context, lease, used: 0 })
    expect(await finish(clock, codeOf(ended))).toBe('unavailable')
    expect(await store.get('orphan')).toMatchObject({ status: 'running' })
    expect(parts.driver.terminated).toEqual([])
  })

  test('an orphan is looked for in the ledger', async () => {
    const lease = (await SweepLease.acquire(context))!
    const get = store.get.bind(store)
    store.get = async (...call) => {
      fallSilent()
      return get(...call)
    }
    const listed = { ...ORPHAN, environment: 'other' }
    const action = { kind: 'end-orphan', id: 'orphan', provider: 'fake', listed } as const
    const ended = applyAction(action, { context, lease, used: 0 })
    expect(await finish(clock, codeOf(ended))).toBe('unavailable')
  })

  test('one that exists already is opened again', async () => {
    const before = await store.get(id)
    const create = store.create.bind(store)
    store.create = async (...call) => {
      fallSilent()
      return create(...call)
    }
    const opened = recordOpened(context, { id, provider: 'fake' }, holder)
    expect(await finish(clock, codeOf(opened))).toBe('unavailable')
    expect(await store.get(id)).toEqual(before)
  })

  test('one is chosen from a pool', async () => {
    const admission = new Admission(context)
    const pool = 'blue'
    const request = { id: 'p', provider: 'fake', pool }
    const lease = await admission.open(request, async () => void parts.driver.alive.set('p', {}))
    await lease.release({ pool })
    fallSilent()
    const opened = admission.open({ ...request, id: 'q' }, async () => {})
    expect(await finish(clock, codeOf(opened))).toBe('unavailable')
    expect(await store.get('p')).toMatchObject({ lease: { kind: 'pool' } })
  })

  test('an operation has ended', async () => {
    const admission = new Admission(context)
    const lease = await admission.open({ id: 'p', provider: 'fake' }, async () => {})
    const before = await store.usageSince(0)
    await lease.run(async () => fallSilent())
    await clock.advance(0)
    expect(await store.usageSince(0)).toEqual(before)
    await lease.release().catch(() => undefined)
  })

  test('use is reported', async () => {
    const reporter = new LedgerReporter(context, holder, {})
    reporter.opened({ id, provider: 'fake' })
    await finish(clock, reporter.flush())
    fallSilent()
    const before = await store.usageSince(0)
    reporter.activity(id)
    await finish(clock, reporter.flush())
    expect(await store.usageSince(0)).toEqual(before)
    store.isSilent = false
    reporter.activity(id)
    await finish(clock, reporter.flush())
    // What could not be reported is reported with the next.
    expect((await store.usageSince(0)).executions).toBe(before.executions + 2)
    await reporter.stop()
  })
})
