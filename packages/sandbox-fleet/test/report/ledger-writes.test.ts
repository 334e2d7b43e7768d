// What a report of a use writes into the ledger, and what it leaves alone.
import type { SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { recordOwed } from '../../src/report/ledger-ends.ts'
import {
  recordActivity,
  recordOpened,
  recordOpening,
  recordProvisioning,
  renewLease,
} from '../../src/report/ledger-writes.ts'
import { type Fleetlet, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf, killed } from '../store/store-samples.ts'

const sandbox = { id: 'a', provider: 'fake' }
const activity = { at: 0, operations: 1, timeouts: 0, timeoutsInARow: 0, succeeded: true }

function ownerOf({ clock, context }: Fleetlet, holder = 'me') {
  const now = clock.now()
  return {
    lease: { kind: 'owner', holder, until: now + context.policy.ownerLeaseMs },
    holdDeadlineAt: now + context.policy.maxHoldMs,
  } as const
}

const typesOf = ({ events }: Fleetlet) => events.map(({ type }) => type)

async function changed(fleet: Fleetlet, record: SandboxRecord, change: Partial<SandboxRecord>) {
  const next = { ...record, ...change, version: record.version + 1 }
  await fleet.store.update(next)
  return next
}

describe('one that is about to be made', () => {
  test('is in the ledger with its labels, its times and its owner', async () => {
    const fleet = setup()
    const now = fleet.clock.now()
    const labels = { sessionId: 's', agentType: 't', taskId: 'k', tenant: 'n' }
    const stored = await recordProvisioning(
      fleet.context,
      { ...sandbox, ...labels, maxLifetimeMs: HOUR_MS },
      { holder: 'me' },
    )
    expect(stored).toMatchObject({
      ...sandbox,
      ...labels,
      ...ownerOf(fleet),
      environment: 'test',
      status: 'provisioning',
      critical: false,
      createdAt: now,
      provisionDeadlineAt: now + 2 * MINUTE_MS,
      deadlineAt: now + HOUR_MS,
    })
    expect(stored).not.toHaveProperty('maxLifetimeMs')
    expect(await fleet.store.get('a')).toEqual(stored)
    expect(typesOf(fleet)).toEqual(['created'])
  })

  test('lives as long as the policy says, and a critical one is held for as long as it likes', async () => {
    const fleet = setup({ policy: { maxLifetimeMs: 7000 } })
    const now = fleet.clock.now()
    const critical = { ...sandbox, critical: true }
    const stored = await recordProvisioning(fleet.context, critical, { holder: 'me' })
    expect(stored).toMatchObject({ critical: true, deadlineAt: now + 7000 })
    expect(stored).not.toHaveProperty('holdDeadlineAt')
    const endless = setup()
    const other = await recordProvisioning(endless.context, sandbox, { holder: 'me' })
    expect(other).not.toHaveProperty('deadlineAt')
  })

  test('needs a place where places are counted', async () => {
    const fleet = setup()
    await given(fleet, 'b')
    const made = recordProvisioning(fleet.context, sandbox, { holder: 'me', maxActive: 1 })
    expect(await codeOf(made)).toBe('capacity-exhausted')
    await recordProvisioning(fleet.context, sandbox, { holder: 'me', maxActive: 2 })
  })
})

describe('one that is open', () => {
  test('is recorded when nobody has announced it, and then runs', async () => {
    const fleet = setup()
    await recordOpened(fleet.context, sandbox, 'me')
    expect(await fleet.store.get('a')).toMatchObject({ status: 'running', ...ownerOf(fleet) })
    expect(typesOf(fleet)).toEqual(['created', 'started'])
  })

  test('and runs already is used now, by this holder', async () => {
    const fleet = setup()
    const record = await given(fleet, 'a')
    const stored = await recordOpened(fleet.context, sandbox, 'me')
    const lastActivityAt = fleet.clock.now()
    expect(stored).toEqual({
      ...record,
      ...ownerOf(fleet),
      version: record.version + 1,
      lastActivityAt,
    })
    expect(typesOf(fleet)).toEqual([])
  })

  test('keeps its labels, gets those that it has not, and becomes critical', async () => {
    const fleet = setup()
    const labels = { sessionId: 's1', agentType: 't1', taskId: 'k1', tenant: 'n1' }
    const other = { sessionId: 's2', agentType: 't2', taskId: 'k2' }
    await given(fleet, 'a')
    const first = await recordOpened(fleet.context, { ...sandbox, ...labels }, 'me')
    expect(first).toMatchObject({ ...labels, critical: false })
    const second = await recordOpened(fleet.context, { ...sandbox, ...other, critical: true }, 'me')
    expect(second).toMatchObject({ ...labels, critical: true })
    expect(second).not.toHaveProperty('holdDeadlineAt')
    expect(await recordOpened(fleet.context, sandbox, 'me')).toMatchObject({ critical: true })
  })

  test('is given back to its owner who had it ended, while nobody ends it', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    await recordOwed(fleet.context, 'a', { detail: 'closed' })
    const stored = await recordOpened(fleet.context, sandbox, 'me')
    expect(stored).toMatchObject({ status: 'running', ...ownerOf(fleet) })
    expect(stored.history.at(-1)).toMatchObject({ event: 'reclaim' })
    expect(stored).not.toHaveProperty('owed')
    expect(stored).not.toHaveProperty('kill')
  })

  test.each([
    ['another had ended', (record: SandboxRecord, now: number) => killed(record, now)],
    [
      'is being ended',
      (record: SandboxRecord, now: number) => {
        const next = killed(record, now + 1)
        return { ...next, kill: { ...next.kill!, reason: 'owner-closed' as const } }
      },
    ],
  ])('is not given back when %s', async (_, change) => {
    const fleet = setup()
    const record = change(await given(fleet, 'a'), fleet.clock.now())
    await fleet.store.update(record)
    const opened = recordOpened(fleet.context, sandbox, 'me')
    expect(await codeOf(opened)).toBe('invalid-transition')
    expect(await fleet.store.get('a')).toEqual(record)
  })

  test('is not taken over from another provider, tenant or environment', async () => {
    for (const fields of [{ provider: 'x' }, { tenant: 'x' }, { environment: 'x' }]) {
      const fleet = setup()
      const record = await given(fleet, 'a', fields)
      const mine = { ...sandbox, tenant: 'mine' }
      for (const work of [recordOpened, recordOpening]) {
        await expect(work(fleet.context, mine, 'me')).rejects.toMatchObject({
          code: 'already-exists',
          sandboxId: 'a',
        })
      }
      expect(await fleet.store.get('a')).toEqual(record)
    }
  })

  test('is refused with what else is wrong', async () => {
    const { context } = setup()
    const odd = { ...sandbox, id: '../etc' }
    expect(await codeOf(recordOpened(context, odd, 'me'))).toBe('invalid-record')
    expect(await codeOf(recordOpening(context, odd, 'me'))).toBe('invalid-record')
  })
})

describe('one that is about to be contacted', () => {
  test('is announced, or held, or used again', async () => {
    const fleet = setup()
    await recordOpening(fleet.context, sandbox, 'me')
    expect(await fleet.store.get('a')).toMatchObject({ status: 'provisioning', version: 1 })
    await recordOpening(fleet.context, sandbox, 'other')
    expect(await fleet.store.get('a')).toMatchObject({
      status: 'provisioning',
      ...ownerOf(fleet, 'other'),
    })
    await given(fleet, 'b')
    await recordOpening(fleet.context, { ...sandbox, id: 'b' }, 'me')
    expect(await fleet.store.get('b')).toMatchObject({ status: 'running', ...ownerOf(fleet) })
    expect(typesOf(fleet)).toEqual(['created'])
  })
})

describe('a renewal', () => {
  const renewals = [
    [
      'renewLease',
      (fleet: Fleetlet, more = {}) => renewLease(fleet.context, 'a', { holder: 'me', ...more }),
    ],
    [
      'recordActivity',
      (fleet: Fleetlet, more = {}) =>
        recordActivity(fleet.context, 'a', { ...activity, holder: 'me', ...more }),
    ],
  ] as const

  test.each(renewals)('%s holds what is used, and tells what is stored', async (_, renew) => {
    const fleet = setup()
    const { generation } = await given(fleet, 'a')
    const seen: SandboxRecord[] = []
    const onStored = (record: SandboxRecord): void => void seen.push(record)
    expect(await renew(fleet, { generation, onStored })).toBe(true)
    const stored = await fleet.store.get('a')
    expect(stored).toMatchObject(ownerOf(fleet))
    expect(seen).toEqual([stored])
  })

  test.each(renewals)('%s leaves alone what is not to be used any more', async (_, renew) => {
    const pool = { lease: { kind: 'pool', holder: 'p', until: 1 } } as const
    for (const change of [{ status: 'failed' }, pool, { generation: 2 }] as const) {
      const fleet = setup()
      const record = await given(fleet, 'a')
      const next = await changed(fleet, record, change)
      expect(await renew(fleet, { generation: record.generation })).toBe(false)
      expect(await fleet.store.get('a')).toEqual(next)
    }
    const fleet = setup()
    await given(fleet, 'a', { environment: 'other' })
    expect(await codeOf(renew(fleet))).toBe('unknown-sandbox')
  })

  test('adds what was done, and tells timeouts', async () => {
    const fleet = setup()
    const { version } = await given(fleet, 'a')
    const now = fleet.clock.now()
    const done = { ...activity, operations: 5, holder: 'me' }
    // By a clock that has leapt it lies ahead.
    await recordActivity(fleet.context, 'a', { ...done, at: now + HOUR_MS })
    expect(await fleet.store.get('a')).toMatchObject({
      operations: 5,
      lastActivityAt: now,
      version: version + 1,
    })
    expect(typesOf(fleet)).toEqual([])
    const timedOut = { ...done, at: 0, timeouts: 2, timeoutsInARow: 1, succeeded: false }
    await recordActivity(fleet.context, 'a', timedOut)
    await recordActivity(fleet.context, 'a', timedOut)
    expect(await fleet.store.get('a')).toMatchObject({
      operations: 15,
      timeouts: 4,
      consecutiveTimeouts: 2,
      lastActivityAt: now,
    })
    expect(typesOf(fleet)).toEqual(['timeout', 'timeout'])
  })
})
