// What a cleanup does with a sandbox, at the bound of each of its times and in the words of its record.
import { describe, expect, test } from 'vitest'
import type { SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { parseFleetPolicy } from '../../src/safety/fleet-policy.ts'
import { safetyRules } from '../../src/safety/safety-rules.ts'
import { type CleanupMode, judge, minutes, type Verdict } from '../../src/sweep/verdict.ts'
import { HOUR_MS, MINUTE_MS } from '../fleet-harness.ts'
import { killed, newRecord, NOW, started } from '../store/store-samples.ts'

const policy = parseFleetPolicy()
const OLD = NOW - HOUR_MS

function verdictOf(
  record: SandboxRecord,
  mode: CleanupMode = 'scheduled',
  isProven = true,
): Verdict {
  const environment = 'test'
  const known = { now: NOW, environment, policy, isProven: () => isProven }
  return judge(record, { ...known, rules: safetyRules, mode })
}

function running(changes: Partial<SandboxRecord> = {}): SandboxRecord {
  return { ...started(newRecord('s', { createdAt: OLD }), OLD), ...changes }
}

function idleFor(ms: number): SandboxRecord {
  return running({ lastActivityAt: NOW - ms })
}

const lease = (kind: 'owner' | 'pool' | 'detached', until: number) =>
  ({ kind, holder: 'h', until }) as const

const spared = (because: string) => ({ action: 'spare', because })
const ended = (reason: string, detail: string) => ({ action: 'destroy', reason, detail })

describe('in every mode', () => {
  test.each(['scheduled', 'pressure', 'emergency'] as const)('%s', (mode) => {
    const other = { ...running(), environment: 'production' }
    expect(verdictOf(other, mode)).toEqual(spared('other-environment'))
    expect(verdictOf(running({ status: 'terminated' }), mode)).toEqual(spared('gone'))
    expect(verdictOf(killed(running(), NOW), mode)).toEqual({ action: 'retry' })
    expect(verdictOf(killed(running(), NOW + 1), mode)).toEqual(spared('not-due'))
    const young = running({ createdAt: NOW - policy.graceMs + 1 })
    expect(verdictOf(young, mode)).toEqual(spared('young'))
  })
})

describe('in an emergency', () => {
  test('everything is ended that is past its grace and not critical', () => {
    const used = running({ lastActivityAt: NOW, lease: lease('owner', NOW + HOUR_MS) })
    const detail = 'an emergency cleanup ends everything that is not critical'
    expect(verdictOf(used, 'emergency')).toEqual(ended('emergency', detail))
    expect(verdictOf({ ...used, critical: true }, 'emergency')).toEqual(spared('critical'))
  })
})

describe('by its time', () => {
  test('one whose lease has run out waits until its owner is proven silent, whatever else is over', () => {
    const silent = running({ deadlineAt: OLD, lease: lease('owner', NOW - HOUR_MS) })
    expect(verdictOf(silent, 'scheduled', false)).toEqual(spared('leased'))
    expect(verdictOf(silent)).toMatchObject({ reason: 'deadline' })
  })

  test('one is ended from its deadline on, in use or not', () => {
    const used = running({ lastActivityAt: NOW, lease: lease('owner', NOW + HOUR_MS) })
    expect(verdictOf({ ...used, deadlineAt: NOW + 1 })).toEqual(spared('leased'))
    expect(verdictOf({ ...used, deadlineAt: NOW })).toEqual(
      ended('deadline', 'its deadline passed 0 s ago'),
    )
    expect(verdictOf({ ...used, deadlineAt: NOW - 5 * MINUTE_MS })).toEqual(
      ended('deadline', 'its deadline passed 5 min ago'),
    )
  })

  test('one that failed is ended, with the code of its error', () => {
    const failed = running({ status: 'failed' })
    expect(verdictOf(failed)).toEqual(ended('failed', 'it failed, and may still be there'))
    const lastError = { code: 'broken', message: 'it broke', at: NOW }
    expect(verdictOf({ ...failed, lastError })).toEqual(ended('failed', 'broken'))
  })

  test('one that does not start is ended when clocks that differ agree that its time is over', () => {
    const starting = newRecord('s', { createdAt: OLD })
    const dueAt = (at: number) => ({ ...starting, provisionDeadlineAt: at - policy.clockSkewMs })
    expect(verdictOf(dueAt(NOW + 1))).toEqual(spared('not-due'))
    expect(verdictOf(dueAt(NOW))).toEqual(
      ended('provisioning-timeout', 'it did not start within 60 min'),
    )
    const { provisionDeadlineAt: _, ...undated } = starting
    expect(verdictOf(undated)).toMatchObject({ reason: 'provisioning-timeout' })
  })
})

describe('one that runs', () => {
  test('is kept while it is leased, but for a run that has held it too long', () => {
    const held = running({ lease: lease('owner', NOW) })
    expect(verdictOf({ ...held, holdDeadlineAt: NOW + 1 })).toEqual(spared('leased'))
    const detail = 'its run holds it for more than 240 min, the longest time that a run may'
    expect(verdictOf({ ...held, holdDeadlineAt: NOW })).toEqual(ended('deadline', detail))
    expect(verdictOf(running({ lease: lease('detached', NOW) }))).toEqual(spared('leased'))
  })

  test('is ended after its time in a pool, however lately it was used', () => {
    const pooled = running({ lastActivityAt: NOW, lease: lease('pool', NOW - HOUR_MS) })
    const detail = 'it was not reused while it waited in the pool'
    expect(verdictOf(pooled)).toEqual(ended('pool-expired', detail))
  })

  test('is ended when it is idle for long enough, and nobody holds it', () => {
    expect(verdictOf(idleFor(policy.stuckAfterMs - 1))).toEqual(spared('active'))
    expect(verdictOf(idleFor(policy.stuckAfterMs))).toEqual(
      ended('idle', 'nothing happened for 10 min, and it has no holder'),
    )
  })

  test('is ended sooner where room is short', () => {
    const idle = idleFor(policy.pressureIdleMs)
    expect(verdictOf(idle)).toEqual(spared('active'))
    expect(verdictOf(idleFor(policy.pressureIdleMs - 1), 'pressure')).toEqual(spared('active'))
    expect(verdictOf(idle, 'pressure')).toEqual(
      ended('pressure', 'nothing happened for 60 s, and it has no holder, while room is short'),
    )
    expect(verdictOf(idleFor(policy.stuckAfterMs), 'pressure')).toMatchObject({ reason: 'idle' })
  })
})

test('a time is told in seconds below two minutes, and in minutes from there on', () => {
  expect([0, 1499, 1500, 119_999].map(minutes)).toEqual(['0 s', '1 s', '2 s', '120 s'])
  expect([120_000, 149_999, 150_000].map(minutes)).toEqual(['2 min', '2 min', '3 min'])
})
