// What a report of an end writes into the ledger, and what it leaves alone.
import { describe, expect, test } from 'vitest'
import {
  recordFailed,
  recordGone,
  recordOwed,
  recordReleased,
} from '../../src/report/ledger-ends.ts'
import { type Fleetlet, given, HOUR_MS, setup } from '../fleet-harness.ts'
import { gone } from '../store/store-samples.ts'

const typesOf = ({ events }: Fleetlet) => events.map(({ type }) => type)

describe('one that its holder lets go', () => {
  test('waits for its session from now on, and this counts as a use', async () => {
    const fleet = setup()
    const now = fleet.clock.now()
    const held = { kind: 'owner', holder: 'me', until: now + 1 } as const
    await given(fleet, 'a', { lease: held, holdDeadlineAt: now + 1 })
    const waiting = { kind: 'detached', holder: 's', lastsMs: HOUR_MS } as const
    await recordReleased(fleet.context, 'a', { holder: 'me', waiting })
    const stored = await fleet.store.get('a')
    const lease = { kind: 'detached', holder: 's', until: now + HOUR_MS }
    expect(stored).toMatchObject({ lease, lastActivityAt: now })
    expect(stored).not.toHaveProperty('holdDeadlineAt')
    await given(fleet, 'b')
    await recordReleased(fleet.context, 'b', { holder: 'me', waiting: undefined })
    expect(await fleet.store.get('b')).not.toHaveProperty('lease')
    expect(await fleet.store.get('b')).toMatchObject({ lastActivityAt: now })
  })

  test('is left alone when another one holds it, or it cannot be used', async () => {
    const release = { holder: 'me', waiting: undefined }
    const theirs = { lease: { kind: 'owner', holder: 'other', until: 0 } } as const
    for (const change of [theirs, { status: 'failed' } as const]) {
      const fleet = setup()
      const record = await given(fleet, 'a')
      const next = { ...record, ...change, version: record.version + 1 }
      await fleet.store.update(next)
      await recordReleased(fleet.context, 'a', release)
      expect(await fleet.store.get('a')).toEqual(next)
    }
  })
})

describe('an end that is reported', () => {
  const ends = [
    ['gone', (fleet: Fleetlet) => recordGone(fleet.context, 'a', { detail: 'd', holder: 'me' })],
    ['owed', (fleet: Fleetlet) => recordOwed(fleet.context, 'a', { detail: 'd', holder: 'me' })],
    [
      'failed',
      (fleet: Fleetlet) =>
        recordFailed(fleet.context, 'a', { code: 'c', message: 'm', holder: 'me' }),
    ],
  ] as const

  test.each(ends)('%s: not while another one holds it', async (name, end) => {
    for (const [ms, isTheirs] of [
      [1, true],
      [0, false],
    ] as const) {
      const fleet = setup()
      const lease = { kind: 'owner', holder: 'other', until: fleet.clock.now() + ms } as const
      const record = await given(fleet, 'a', { lease })
      await end(fleet)
      const stored = await fleet.store.get('a')
      expect(stored?.version).toBe(record.version + (isTheirs ? 0 : 1))
      expect(typesOf(fleet)).toHaveLength(isTheirs || name === 'owed' ? 0 : 1)
    }
  })

  test.each(ends)('%s: not of what is gone already', async (_, end) => {
    const fleet = setup()
    const record = gone(await given(fleet, 'a'))
    await fleet.store.update(record)
    await end(fleet)
    expect(await fleet.store.get('a')).toEqual(record)
    expect(typesOf(fleet)).toEqual([])
  })

  test('is recorded as it was said', async () => {
    const fleet = setup()
    const now = fleet.clock.now()
    for (const id of ['a', 'b', 'c']) await given(fleet, id)
    await recordGone(fleet.context, 'a', { detail: 'closed' })
    await recordOwed(fleet.context, 'b', { detail: 'not closed' })
    await recordFailed(fleet.context, 'c', { code: 'broken', message: 'it broke' })
    const last = async (id: string) => (await fleet.store.get(id))?.history.at(-1)
    expect(await last('a')).toEqual({
      at: now,
      event: 'vanish',
      status: 'terminated',
      detail: 'closed',
    })
    expect(await fleet.store.get('b')).toMatchObject({
      status: 'terminating',
      kill: { reason: 'owner-closed', detail: 'not closed', by: 'owner', at: now },
      owed: { since: now, attempts: 0, nextAttemptAt: now },
    })
    const lastError = { code: 'broken', message: 'it broke', at: now }
    expect(await fleet.store.get('c')).toMatchObject({ status: 'failed', lastError })
    expect(typesOf(fleet)).toEqual(['vanished', 'failed'])
    const owed = await fleet.store.get('b')
    await recordOwed(fleet.context, 'b', { detail: 'again' })
    expect(await fleet.store.get('b')).toEqual(owed)
  })
})
