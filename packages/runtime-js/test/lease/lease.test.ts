// How long a run has its session, when it asks for it again, and what it hears when another one has it.
import { StateStoreError } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { isLeaseLost, Lease, type LeaseOptions, leaseFor } from '../../src/lease/lease.ts'
import { settle } from '../harness.ts'

const START = 1000
const lost = (code: 'conflict' | 'not-found' = 'conflict') => new StateStoreError(code, 's', 'x')

function leaseOf(leaseMs = 300, more: Partial<LeaseOptions> = {}) {
  const [clock, logger] = [new ManualClock(START), new RecordingLogger()]
  const renewals: object[] = []
  const answers: (() => Promise<void>)[] = []
  const renewRun = async (renewal: object) => {
    renewals.push(renewal)
    await answers.shift()?.()
  }
  const events: string[] = []
  const lease = new Lease({
    services: { stateStore: { renewRun }, clock, logger, leaseMs },
    sessionId: 's',
    runId: 'r',
    startedAt: START,
    onLost: () => void events.push('lost'),
    ...more,
  })
  return { clock, logger, lease, renewals, answers, events }
}

test('a lease lasts from when it was asked for; each write says now', async () => {
  const { clock, lease } = leaseOf()
  expect(lease.expiresAt).toBe(START + 300)
  await clock.advance(299)
  expect(lease.isStale).toBe(false)
  expect(lease.write()).toEqual({ sessionId: 's', runId: 'r', now: START + 299 })
  await clock.advance(1)
  expect(lease.isStale).toBe(true)
})

test('that of a sub-agent ends with that of its parent, and is never nothing', () => {
  const parent = leaseOf(100).lease
  expect(leaseFor(300, undefined, START)).toBe(300)
  expect(leaseFor(300, parent, START)).toBe(100)
  expect(leaseFor(300, parent, START + 40)).toBe(60)
  expect(leaseFor(30, parent, START)).toBe(30)
  expect(leaseFor(300, parent, START + 100)).toBe(1)
  expect(leaseFor(300, parent, START + 999)).toBe(1)
  expect(leaseOf(300, { parent }).lease.expiresAt).toBe(START + 100)
})

describe('a lease that is kept', () => {
  test('is renewed each third of its time, until that is ended', async () => {
    const { clock, lease, renewals } = leaseOf()
    const end = lease.keepRenewed()
    await clock.advance(99)
    expect(renewals).toEqual([])
    await clock.advance(1)
    expect(renewals).toEqual([{ sessionId: 's', runId: 'r', now: START + 100, leaseMs: 300 }])
    expect(lease.expiresAt).toBe(START + 400)
    await clock.advance(100)
    expect(renewals).toHaveLength(2)
    end()
    await clock.advance(1000)
    expect(renewals).toHaveLength(2)
    expect(clock.pendingTimers).toBe(0)
  })

  test('is not renewed again after a renewal during which that was ended', async () => {
    const { clock, lease, answers } = leaseOf()
    const hold = Promise.withResolvers<void>()
    answers.push(() => hold.promise)
    const end = lease.keepRenewed()
    await clock.advance(100)
    end()
    hold.resolve()
    await settle()
    expect(clock.pendingTimers).toBe(0)
  })

  test('is renewed again after a failure, which is logged', async () => {
    const { clock, lease, logger, answers, renewals, events } = leaseOf()
    const err = new Error('away')
    answers.push(() => Promise.reject(err))
    const end = lease.keepRenewed()
    await clock.advance(100)
    expect(lease.expiresAt).toBe(START + 300)
    const fields = { err, sessionId: 's', runId: 'r' }
    expect(logger.lines).toEqual([{ level: 'warn', message: 'lease renewal failed', fields }])
    await clock.advance(100)
    expect(renewals).toHaveLength(2)
    expect([lease.expiresAt, events]).toEqual([START + 500, []])
    end()
  })

  test.each(['conflict', 'not-found'] as const)('is lost for good with %s', async (code) => {
    const { clock, lease, logger, answers, events } = leaseOf()
    answers.push(() => Promise.reject(lost(code)))
    lease.keepRenewed()
    await clock.advance(100)
    expect([events, logger.lines, clock.pendingTimers]).toEqual([['lost'], [], 0])
  })
})

test('one that is not over is not asked for', async () => {
  const { clock, lease, renewals } = leaseOf()
  await clock.advance(299)
  await lease.confirm()
  expect(renewals).toEqual([])
})

test('one that is over is asked for, and what the store says counts', async () => {
  const { clock, lease, answers, events } = leaseOf()
  await clock.advance(300)
  answers.push(() => Promise.reject(lost()))
  await expect(lease.confirm()).rejects.toMatchObject({ code: 'conflict' })
  expect(events).toEqual(['lost'])
  answers.push(() => Promise.reject(new Error('away')))
  await expect(lease.confirm()).rejects.toThrow('away')
  expect(events).toEqual(['lost'])
  const hold = Promise.withResolvers<void>()
  answers.push(() => hold.promise)
  let isConfirmed = false
  const confirmed = lease.confirm().then(() => (isConfirmed = true))
  await settle()
  expect([isConfirmed, lease.isStale]).toEqual([false, true])
  hold.resolve()
  await confirmed
  expect(lease.isStale).toBe(false)
})

test('only a conflict and an unknown session say that a lease is lost', () => {
  expect([lost(), lost('not-found')].map(isLeaseLost)).toEqual([true, true])
  const others = [new StateStoreError('unavailable', 's', 'x'), new Error('conflict'), undefined]
  expect(others.map(isLeaseLost)).toEqual([false, false, false])
})
