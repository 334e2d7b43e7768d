// Each finding in full, at the bound from which it is one.
import { diagnose, parseFleetPolicy, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../fleet-harness.ts'
import { newRecord, NOW, started } from '../store/store-samples.ts'

const policy = parseFleetPolicy()
const sandboxId = 's'
const lease = { kind: 'owner', holder: 'run', until: NOW + 1 } as const

function found(record: SandboxRecord) {
  return diagnose(record, { now: NOW, policy })
}

function running(ageMs: number, fields: Partial<SandboxRecord> = {}): SandboxRecord {
  const createdAt = NOW - ageMs
  return { ...started(newRecord('s', { createdAt }), createdAt), lastActivityAt: NOW, ...fields }
}

/** In use, for so short a time that nothing is wrong with it. */
const fresh = (fields: Partial<SandboxRecord> = {}): SandboxRecord =>
  running(MINUTE_MS, { lease, ...fields })

test('one that has not started is overdue from its deadline on', () => {
  const made = newRecord('s', { createdAt: NOW - MINUTE_MS })
  expect(found({ ...made, provisionDeadlineAt: NOW + 1 })).toEqual([])
  expect(found({ ...made, provisionDeadlineAt: NOW })).toEqual([
    {
      sandboxId,
      kind: 'provisioning-overdue',
      severity: 'warning',
      reason: 'It is being made for 60 s, and should have started.',
      evidence: { ageMs: MINUTE_MS, overdueMs: 0 },
      nextStep: 'The next cleanup ends it.',
      since: NOW,
    },
  ])
  const { provisionDeadlineAt: _, ...undated } = made
  expect(found(undated)).toMatchObject([{ since: made.createdAt }])
  const both = { ...made, provisionDeadlineAt: NOW, deadlineAt: NOW, unknownProbes: 3 }
  const kinds = ['provisioning-overdue', 'past-deadline', 'unreachable']
  expect(found(both).map(({ kind }) => kind)).toEqual(kinds)
})

test('one that lives from its deadline on', () => {
  expect(found(fresh({ deadlineAt: NOW + 1 }))).toEqual([])
  expect(found(fresh({ deadlineAt: NOW }))).toMatchObject([{ evidence: { overdueMs: 0 } }])
  expect(found(fresh({ deadlineAt: NOW - 1000 }))).toEqual([
    {
      sandboxId,
      kind: 'past-deadline',
      severity: 'critical',
      reason: 'It lives 1 s longer than it may.',
      evidence: { overdueMs: 1000 },
      nextStep: 'The next cleanup ends it, in use or not.',
      since: NOW - 1000,
    },
  ])
})

const holding = (leftMs: number) => found(fresh({ holdDeadlineAt: NOW + leftMs }))
const heldFor = (time: string) => `Its run has held it for ${time}, and may for 240 min.`

describe('a hold that ends', () => {
  test('is told as long before as its session is warned', () => {
    const warningMs = policy.holdWarningMs
    expect(holding(warningMs + 1)).toEqual([])
    expect(holding(warningMs)).toEqual([
      {
        sandboxId,
        kind: 'hold-ending',
        severity: 'warning',
        reason: heldFor('225 min'),
        evidence: { leftMs: warningMs, holder: 'run' },
        nextStep: 'A cleanup ends it in 15 min, in use or not. Its session is warned.',
        since: NOW,
      },
    ])
  })

  test('is critical when it is over', () => {
    const nextStep = expect.stringMatching(/^A cleanup ends it in /)
    expect(holding(1)).toMatchObject([{ severity: 'warning', nextStep }])
    const { lease: _, ...unheld } = fresh({ holdDeadlineAt: NOW })
    expect(found(unheld)[0]).toEqual({
      sandboxId,
      kind: 'hold-ending',
      severity: 'critical',
      reason: heldFor('240 min'),
      evidence: { leftMs: 0, holder: '' },
      nextStep: 'The next cleanup ends it, in use or not.',
      since: NOW - policy.holdWarningMs,
    })
  })
})

describe('one that runs', () => {
  test('is stuck when nothing happened for long enough, held or not', () => {
    const lastActivityAt = NOW - policy.stuckAfterMs
    const holdDeadlineAt = NOW + HOUR_MS
    const evidence = { ageMs: HOUR_MS, idleMs: policy.stuckAfterMs, holder: 'run' }
    const stuck = { sandboxId, kind: 'stuck', severity: 'critical', since: NOW } as const
    expect(found(running(HOUR_MS, { lastActivityAt, lease, holdDeadlineAt }))).toEqual([
      {
        ...stuck,
        reason: 'Nothing happened in it for 10 min, and its owner holds it.',
        evidence,
        nextStep: 'Nothing, until its hold is over in 60 min. End it by hand if it is not needed.',
      },
    ])
    expect(found(running(HOUR_MS, { lastActivityAt, lease }))).toMatchObject([
      { nextStep: 'Nothing, until its hold is over. End it by hand if it is not needed.' },
    ])
    const over = { ...lease, until: NOW }
    expect(found(running(HOUR_MS, { lastActivityAt, lease: over }))).toEqual([
      {
        ...stuck,
        reason: 'Nothing happened in it for 10 min, and it has no holder.',
        evidence,
        nextStep: 'The next cleanup ends it.',
      },
    ])
    expect(found(running(HOUR_MS, { lastActivityAt }))).toMatchObject([
      { evidence: { ...evidence, holder: '' } },
    ])
  })

  test('has no owner when its lease is over, and is not stuck yet', () => {
    const lastActivityAt = NOW - policy.stuckAfterMs + 1000
    const finding = {
      sandboxId,
      kind: 'no-owner',
      severity: 'warning',
      reason: 'It has no holder. Nothing happened in it for 10 min.',
      evidence: { ageMs: HOUR_MS, idleMs: policy.stuckAfterMs - 1000, holder: '' },
      nextStep: 'A cleanup ends it in 1 s, unless it is used.',
      since: NOW - HOUR_MS,
    }
    expect(found(running(HOUR_MS, { lastActivityAt }))).toEqual([finding])
    const over = { ...lease, until: NOW - 7 }
    expect(found(running(HOUR_MS, { lastActivityAt, lease: over }))).toMatchObject([
      { kind: 'no-owner', since: NOW - 7 },
    ])
  })

  test('runs long from the time of the warning on', () => {
    expect(found(running(policy.warnAfterMs - 1, { lease }))).toEqual([])
    const holdDeadlineAt = NOW + HOUR_MS
    expect(found(running(policy.warnAfterMs, { lease, holdDeadlineAt }))).toEqual([
      {
        sandboxId,
        kind: 'long-running',
        severity: 'warning',
        reason: 'It runs for 5 min. Its owner holds it and uses it.',
        evidence: { ageMs: policy.warnAfterMs, idleMs: 0, holder: 'run' },
        nextStep: 'Nothing, until its hold is over in 60 min.',
        since: NOW,
      },
    ])
  })

  test('waits for its session or in a pool without a finding', () => {
    for (const kind of ['detached', 'pool'] as const) {
      const waiting = { lastActivityAt: NOW - HOUR_MS, lease: { ...lease, kind } }
      expect(found(running(HOUR_MS, waiting))).toEqual([])
    }
  })

  test('whose operations time out', () => {
    const counts = { timeouts: 5, operations: 9 }
    expect(found(fresh({ ...counts, consecutiveTimeouts: 2 }))).toEqual([])
    expect(found(fresh({ ...counts, consecutiveTimeouts: 3 }))).toEqual([
      {
        sandboxId,
        kind: 'repeated-timeouts',
        severity: 'warning',
        reason: 'Its last 3 operations timed out.',
        evidence: { consecutiveTimeouts: 3, ...counts },
        nextStep: 'Nothing while it is held. End it by hand if it is not needed.',
        since: NOW,
      },
    ])
  })

  test('whose resources tell something, once it runs for some time', () => {
    const samples = [3, 2, 1].map((ago) => ({
      at: NOW - ago * MINUTE_MS,
      cpuPercent: 100 - ago,
      memoryMb: 400 - ago * 100,
    }))
    const of = (ageMs: number) =>
      found(running(ageMs, { lease, samples })).filter(({ kind }) => kind !== 'long-running')
    expect(of(policy.warnAfterMs - 1)).toEqual([])
    const common = {
      sandboxId,
      severity: 'warning',
      evidence: { samples: 3, spanMs: 2 * MINUTE_MS, cpuPercent: 99, memoryMb: 300, grownMb: 200 },
      since: NOW - 3 * MINUTE_MS,
    }
    expect(of(policy.warnAfterMs)).toEqual([
      {
        ...common,
        kind: 'busy-loop',
        reason: 'It computes all the time: probably a loop that does not end.',
        nextStep: 'Nothing until its hold is over. End it by hand, and bound the loop.',
      },
      {
        ...common,
        kind: 'memory-growth',
        reason: 'It needs ever more memory: probably a leak in what runs in it.',
        nextStep: 'Nothing until its hold is over. End it by hand before the platform does.',
      },
    ])
  })

  test('that computes nothing is hung, by the samples since its last use', () => {
    const samples = [4, 3, 2].map((ago) => ({
      at: NOW - ago * MINUTE_MS,
      cpuPercent: 0,
      memoryMb: 1,
    }))
    const of = (agoMs: number) =>
      found(running(HOUR_MS, { lease, samples, lastActivityAt: NOW - agoMs }))
    expect(of(4 * MINUTE_MS)).toMatchObject([
      { kind: 'long-running' },
      {
        kind: 'hang',
        reason: 'It computes nothing: it waits for something, such as a call without a time limit.',
        nextStep: 'Nothing until its hold is over. End it by hand, and give the call a time limit.',
        evidence: { samples: 3 },
      },
    ])
    expect(of(4 * MINUTE_MS - 1)).toMatchObject([{ kind: 'long-running' }])
  })
})

const ending = (owed: SandboxRecord['owed'], fields: Partial<SandboxRecord> = {}) =>
  found({ ...fresh(fields), status: 'terminating', ...(owed && { owed }) })

describe('one that should be gone', () => {
  test('and was tried to be ended', () => {
    const owed = { since: NOW - HOUR_MS, attempts: 2, nextAttemptAt: NOW + 5000 }
    const finding = {
      sandboxId,
      kind: 'destroy-owed',
      severity: 'warning',
      reason: 'It should be gone since 60 min, and that is not confirmed.',
      evidence: { attempts: 2, owedMs: HOUR_MS, lastError: '' },
      nextStep: 'It is retried in 5 s.',
      since: NOW - HOUR_MS,
    }
    expect(ending(owed)).toEqual([finding])
    const lastError = { code: 'broken', message: 'it broke', at: NOW }
    expect(ending({ ...owed, attempts: 3, nextAttemptAt: NOW - 5000 }, { lastError })).toEqual([
      {
        ...finding,
        severity: 'critical',
        evidence: { attempts: 3, owedMs: HOUR_MS, lastError: 'broken' },
        nextStep: 'It is retried in 0 s.',
      },
    ])
  })

  test('and was not tried to be ended for longer than passes are apart', () => {
    const since = NOW - HOUR_MS
    const due = (agoMs: number) => ending({ since, attempts: 0, nextAttemptAt: NOW - agoMs })
    expect(due(15 * MINUTE_MS - 1)).toEqual([])
    expect(due(15 * MINUTE_MS)).toEqual([
      {
        sandboxId,
        kind: 'destroy-owed',
        severity: 'critical',
        reason: 'It should be gone since 60 min, and no destroy was attempted.',
        evidence: { attempts: 0, owedMs: HOUR_MS, provider: 'p' },
        nextStep: 'Run the cleanup of a fleet that has a driver for its provider.',
        since,
      },
    ])
    expect(ending(undefined)).toEqual([])
  })
})

test('one that failed, and may not answer', () => {
  const failed = { ...fresh(), status: 'failed', statusSince: NOW - 5 } as const
  const finding = {
    sandboxId,
    kind: 'failed',
    severity: 'warning',
    reason: 'It cannot be used, and may still be there.',
    evidence: { lastError: '' },
    nextStep: 'The next cleanup ends it.',
    since: NOW - 5,
  }
  expect(found({ ...failed, unknownProbes: 2 })).toEqual([finding])
  const lastError = { code: 'broken', message: 'it broke', at: NOW }
  expect(found({ ...failed, lastError, unknownProbes: 3 })).toEqual([
    { ...finding, evidence: { lastError: 'broken' } },
    {
      sandboxId,
      kind: 'unreachable',
      severity: 'warning',
      reason: 'Its state was unknown in 3 probes in a row.',
      evidence: { unknownProbes: 3 },
      nextStep: 'It is left as it is until its state is known. End it by hand if it must go.',
      since: NOW - 5,
    },
  ])
})
