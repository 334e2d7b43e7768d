// Each rule at its bound: the last moment, count or answer at which it still protects, and the next.
import { describe, expect, test } from 'vitest'
import type { PendingDestroy, SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { parseFleetPolicy } from '../../src/safety/fleet-policy.ts'
import { type RuleContext, safetyRules } from '../../src/safety/safety-rules.ts'
import { NOW, newRecord } from '../store/store-samples.ts'

const GRACE_MS = 60_000
const SKEW_MS = 10_000

function context(more: Partial<RuleContext> = {}): RuleContext {
  const policy = parseFleetPolicy({ graceMs: GRACE_MS, clockSkewMs: SKEW_MS })
  return { now: NOW, environment: 'test', policy, isProven: () => false, ...more }
}

function record(changes: Partial<SandboxRecord>): SandboxRecord {
  return { ...newRecord('s'), ...changes }
}

const leased = (until: number, kind: 'owner' | 'detached' = 'owner'): SandboxRecord =>
  record({ lease: { kind, holder: 'h', until } })

describe('a sandbox is protected', () => {
  test('until its grace period is over', () => {
    expect(safetyRules.isPastGrace(NOW - GRACE_MS + 1, context())).toBe(false)
    expect(safetyRules.isPastGrace(NOW - GRACE_MS, context())).toBe(true)
  })

  test('unless its label is that of this deployment, which is not empty', () => {
    expect(safetyRules.hasOwnLabel('test', context())).toBe(true)
    for (const label of [undefined, '', 'other'])
      expect(safetyRules.hasOwnLabel(label, context())).toBe(false)
    expect(safetyRules.hasOwnLabel('', context({ environment: '' }))).toBe(false)
  })

  test('while its lease is valid by a clock that may differ', () => {
    expect(safetyRules.isUnleased(leased(NOW - SKEW_MS + 1), context())).toBe(false)
    expect(safetyRules.isUnleased(leased(NOW - SKEW_MS), context())).toBe(true)
    expect(safetyRules.isUnleased(newRecord('s'), context())).toBe(true)
  })

  test('while its owner is not proven silent, once its lease has run out', () => {
    expect(safetyRules.isSilent(leased(NOW), context())).toBe(false)
    expect(safetyRules.isSilent(leased(NOW), context({ isProven: () => true }))).toBe(true)
    // Another rule protects it until then.
    expect(safetyRules.isSilent(leased(NOW + 1), context())).toBe(true)
    expect(safetyRules.isSilent(leased(NOW, 'detached'), context())).toBe(true)
    expect(safetyRules.isSilent(newRecord('s'), context())).toBe(true)
  })

  test('while it was used lately', () => {
    const used = [99, 100].map((agoMs) => record({ lastActivityAt: NOW - agoMs }))
    expect(used.map((each) => safetyRules.isIdle(each, 100, context()))).toEqual([false, true])
  })

  test('while it may still arrive', () => {
    const due = [NOW - SKEW_MS + 1, NOW - SKEW_MS].map((provisionDeadlineAt) =>
      record({ provisionDeadlineAt }),
    )
    expect(due.map((each) => safetyRules.mayStillArrive(each, context()))).toEqual([true, false])
    const { provisionDeadlineAt: _, ...adopted } = newRecord('s')
    expect(safetyRules.mayStillArrive(adopted, context({ now: SKEW_MS }))).toBe(false)
  })
})

const isTooLong = (changes: Partial<SandboxRecord>): boolean =>
  safetyRules.isHeldTooLong(record(changes), context())

test('a hold is too long from its deadline on, but for critical sandboxes', () => {
  expect(isTooLong({ critical: false, holdDeadlineAt: NOW })).toBe(true)
  expect(isTooLong({ critical: false, holdDeadlineAt: NOW + 1 })).toBe(false)
  expect(isTooLong({ critical: true, holdDeadlineAt: NOW })).toBe(false)
  expect(isTooLong({ critical: false })).toBe(false)
})

test('what a provider answers counts for what it says, and no more', () => {
  const { isAbandoned, isConfirmedGone, isKnown, isSeenAbandoned, isWhole } = safetyRules
  expect([true, false].map((isComplete) => isWhole({ isComplete, sandboxes: [] }))).toEqual([
    true,
    false,
  ])
  const answers = [{ ownerAlive: true }, { ownerAlive: false }, {}]
  expect(answers.map(isAbandoned)).toEqual([false, true, true])
  expect(answers.map(isSeenAbandoned)).toEqual([false, true, false])
  const states = (['running', 'absent', 'stopped', 'unknown'] as const).map((state) => ({ state }))
  expect(states.map(isConfirmedGone)).toEqual([false, true, true, false])
  expect(states.map(isKnown)).toEqual([true, true, true, false])
})

const owed = (nextAttemptAt: number): PendingDestroy => ({ since: NOW, attempts: 1, nextAttemptAt })
const isDue = (changes: Partial<SandboxRecord>): boolean =>
  safetyRules.isDestroyDue(record(changes), context())

test('a destroy is due when it is owed, and its next attempt has come', () => {
  expect(isDue({ status: 'terminating' })).toBe(true)
  expect(isDue({ status: 'terminating', owed: owed(NOW) })).toBe(true)
  expect(isDue({ status: 'terminating', owed: owed(NOW + 1) })).toBe(false)
  for (const status of ['running', 'terminated'] as const) {
    expect(isDue({ status })).toBe(false)
    expect(isDue({ status, owed: owed(NOW) })).toBe(false)
  }
})

test('a pass ends as many as it may, and drivers are asked about what the ledger knows', () => {
  const { isWithinBudget, mayAsk } = safetyRules
  expect(isWithinBudget({ allowed: 2, used: 1 })).toBe(true)
  expect(isWithinBudget({ allowed: 2, used: 2 })).toBe(false)
  expect([mayAsk(newRecord('s')), mayAsk(undefined)]).toEqual([true, false])
})

test('a kill has a reason, a detail and an author, and an entry an id', () => {
  const kill = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const
  expect(safetyRules.hasReason(kill)).toBe(true)
  expect(safetyRules.hasReason({ ...kill, detail: ' ' })).toBe(false)
  expect(safetyRules.hasReason({ ...kill, by: '' })).toBe(false)
  expect([safetyRules.hasValidId('s'), safetyRules.hasValidId('')]).toEqual([true, false])
  expect(safetyRules.hasValidId(7)).toBe(false)
})
