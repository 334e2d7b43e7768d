// Whether the simulator can be trusted: it repeats itself, it does provoke trouble, and it notices
// when a rule is missing.
import { TestSampler } from '@helix-agents/core/testing'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { describe, expect, test } from 'vitest'
import { type RuleName, withoutRule } from '../safety/without-rule.ts'
import { firstNoticed } from './many-schedules.ts'
import { runSchedule } from './run-schedule.ts'

const sampler = new TestSampler()
/** On a machine that is busy with other things. */
const SLOW = { timeout: 300_000 }

/** Seeds of schedules from 1 on, or some of them. */
function seedsUpTo(last: number, sampled: number): readonly number[] {
  const all = Array.from({ length: last }, (_, index) => index + 1)
  return sampler.pick(`up to ${last}`, all, sampled)
}

test('the same seed does the same', async () => {
  const first = await runSchedule(7, { isTraced: true })
  const second = await runSchedule(7, { isTraced: true })
  expect(second).toEqual(first)
  expect(first.trace.length).toBeGreaterThan(20)
  expect((await runSchedule(8, { isTraced: true })).trace).not.toEqual(first.trace)
})

test('schedules are full of trouble', async () => {
  const tallies = await Promise.all(
    Array.from({ length: 40 }, async (_, seed) => (await runSchedule(seed + 1)).tally),
  )
  const sum = (name: keyof (typeof tallies)[number]) =>
    tallies.reduce((total, tally) => total + tally[name], 0)
  for (const name of [
    'killed',
    'retried',
    'orphansEnded',
    'healed',
    'leaseHeld',
    'attached',
    'resumed',
  ] as const) {
    expect([name, sum(name)]).not.toEqual([name, 0])
  }
  expect(sum('faults')).toBeGreaterThan(500)
  expect(sum('crashes')).toBeGreaterThan(50)
})

const noticed: readonly RuleName[] = [
  'hasOwnLabel',
  'hasValidId',
  'isConfirmedGone',
  'isDestroyDue',
  'isIdle',
  'isKnown',
  'isAbandoned',
  'isHeldTooLong',
  'isSeenAbandoned',
  'isPastGrace',
  'isUnleased',
  'isWithinBudget',
  'mayStillArrive',
]
/** The schedules that notice what few do; they are tried first. */
const KNOWN_SEEDS: Partial<Record<RuleName, number>> = {
  isAbandoned: 283,
  isHeldTooLong: 53,
  isSeenAbandoned: 115,
  mayStillArrive: 2126,
}
/** A small part of the usual run, which notices as well. */
const ENOUGH = 5000

describe('notices that a rule is missing', SLOW, () => {
  test.each(noticed)('%s', async (rule) => {
    const rules = withoutRule(rule)
    const known = KNOWN_SEEDS[rule]
    if (known !== undefined && (await runSchedule(known, { rules })).violations.length > 0) return
    expect(await firstNoticed({ rules }, ENOUGH)).toBeLessThanOrEqual(ENOUGH)
  })
})

test('clocks that are off by a day break nothing where the ledger has its own', SLOW, async () => {
  const wrongByMs = 24 * 3_600_000
  for (const seed of seedsUpTo(200, 60)) {
    expect([seed, (await runSchedule(seed, { wrongByMs })).violations]).toEqual([seed, []])
  }
})

function held(violations: readonly string[]): readonly string[] {
  return violations.filter((text) => text.endsWith('is held and was ended'))
}

describe('sweepers whose clocks are ahead, on a ledger without one', SLOW, () => {
  test('end nothing that an owner holds', async () => {
    for (const seed of seedsUpTo(300, 40)) {
      const { violations } = await runSchedule(seed, { sweepersAheadMs: 70 * 60_000 })
      expect([seed, held(violations)]).toEqual([seed, []])
    }
  })

  test('would without the proof that an owner is silent', async () => {
    const rules = withoutRule('isSilent')
    const { violations } = await runSchedule(1, { sweepersAheadMs: 70 * 60_000, rules })
    expect(held(violations)).not.toEqual([])
  })
})

test('holds on SQLite as well', SLOW, async () => {
  for (const seed of seedsUpTo(60, 10)) {
    const { close, store } = await openSqliteFleetStore(':memory:')
    expect((await runSchedule(seed, { store })).violations).toEqual([])
    await close()
  }
})
