import { expect } from 'vitest'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import type { SafetyRules } from '../../src/safety/safety-rules.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, given, HOUR_MS, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'
import type { RuleName } from './without-rule.ts'

/** What would go wrong without a rule: each throws then, and passes with it. */
export interface RuleScenario {
  readonly rule: RuleName
  readonly what: string
  readonly run: (rules: SafetyRules) => Promise<void>
}

const operator = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const

export const ruleScenarios: readonly RuleScenario[] = [
  {
    rule: 'isPastGrace',
    what: 'an emergency spares what was made just now',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'young', { ageMs: MINUTE_MS })
      await given(fleet, 'old')
      await finish(fleet.clock, runCleanup(fleet.context, 'emergency'))
      expect(fleet.driver.terminated).toEqual(['old'])
    },
  },
  {
    rule: 'isPastGrace',
    what: 'what a provider lists and the ledger does not know yet is left alone at first',
    run: async (rules) => {
      const { clock, context, driver, store } = setup({ rules })
      driver.alive.set('newborn', {
        environment: 'test',
        createdAt: clock.now() - MINUTE_MS,
        ownerAlive: false,
      })
      await finish(clock, runReconcile(context))
      expect(driver.terminated).toEqual([])
      expect(await statusOf(store, 'newborn')).toBe('running')
    },
  },
  {
    rule: 'hasOwnLabel',
    what: 'a sandbox of another deployment is not ended, by nobody',
    run: async (rules) => {
      const fleet = setup({ rules })
      const { clock, context, driver } = fleet
      await given(fleet, 'theirs', { environment: 'production' })
      const ending = terminateSandbox(context, 'theirs', operator)
      expect(await codeOf(finish(clock, ending))).toBe('not-supported')
      await finish(clock, runCleanup(context, 'emergency'))
      expect(driver.terminated).toEqual([])
    },
  },
  {
    rule: 'hasOwnLabel',
    what: 'an orphan of another deployment, or of nobody, is not ended',
    run: async (rules) => {
      const { clock, context, driver } = setup({ rules })
      driver.alive.set('theirs', { environment: 'production', createdAt: 0, ownerAlive: false })
      driver.alive.set('nobodys', { createdAt: 0, ownerAlive: false })
      driver.alive.set('empty', { environment: '', createdAt: 0, ownerAlive: false })
      await finish(clock, runReconcile(context))
      expect(driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isSilent',
    what: 'a lease that ran out by the clock of the sweeper counts until its owner is seen to be silent',
    run: async (rules) => {
      const fleet = setup({ rules })
      const until = fleet.clock.now() - HOUR_MS
      await given(fleet, 'held', { lease: { kind: 'owner', holder: 'run', until } })
      await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isHeldTooLong',
    what: 'what is critical is not ended, however long a run holds it',
    run: async (rules) => {
      const fleet = setup({ rules })
      const now = fleet.clock.now()
      const lease = { kind: 'owner', holder: 'run', until: now + HOUR_MS } as const
      await given(fleet, 'held', { lease, holdDeadlineAt: now - HOUR_MS, critical: true })
      await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isUnleased',
    what: 'a lease that has just run out by this clock still counts',
    run: async (rules) => {
      const fleet = setup({ rules, policy: { leaseProofMs: 0 } })
      const until = fleet.clock.now() - 5000
      await given(fleet, 'held', { lease: { kind: 'owner', holder: 'run', until } })
      await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isIdle',
    what: 'a sandbox that was used lately is left alone, however old it is',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'busy', { idleMs: 2 * MINUTE_MS })
      await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isWhole',
    what: 'nothing is concluded from a partial list',
    run: async (rules) => {
      const fleet = setup({ rules })
      fleet.driver.isComplete = false
      fleet.driver.alive.set('orphan', { environment: 'test', createdAt: 0, ownerAlive: false })
      const { items, rejected } = await finish(fleet.clock, runReconcile(fleet.context))
      expect(items).toEqual([])
      expect(rejected).toMatchObject([{ provider: 'fake', because: 'partial' }])
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isKnown',
    what: 'what cannot be told is left as it is',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'silent')
      fleet.driver.onInspect = () => Promise.reject(new Error('no answer'))
      const { items } = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(items).toMatchObject([{ id: 'silent', outcome: 'unknown' }])
      expect(await statusOf(fleet.store, 'silent')).toBe('running')
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isAbandoned',
    what: 'a sandbox whose owner is seen running is left alone, though its lease ran out',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'used')
      fleet.driver.onInspect = () => ({ state: 'running', ownerAlive: true })
      const { items } = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(items).toMatchObject([{ outcome: 'owner-alive' }])
      expect(fleet.driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isSeenAbandoned',
    what: 'what the ledger never heard of is not ended at once where its owner cannot be seen',
    run: async (rules) => {
      const fleet = setup({ rules })
      fleet.driver.alive.set('unheard-of', { environment: 'test', createdAt: 0 })
      await finish(fleet.clock, runReconcile(fleet.context))
      expect(fleet.driver.terminated).toEqual([])
      expect(await statusOf(fleet.store, 'unheard-of')).toBe('running')
    },
  },
  {
    rule: 'isAbandoned',
    what: 'an orphan to which an owner attached after the listing keeps running',
    run: async (rules) => {
      const { clock, context, driver } = setup({
        rules: { ...rules, isSeenAbandoned: (probe) => rules.isAbandoned(probe) },
      })
      driver.alive.set('work', { environment: 'test', createdAt: 0, ownerAlive: false })
      driver.onInspect = () => ({ state: 'running', ownerAlive: true })
      await finish(clock, runReconcile(context))
      expect(driver.terminated).toEqual([])
    },
  },
  {
    rule: 'isConfirmedGone',
    what: 'a destroy that had no effect stays owed',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'tough')
      fleet.driver.onTerminate = () => undefined
      const { items } = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(items).toMatchObject([{ outcome: 'owed' }])
      expect(await fleet.store.get('tough')).toMatchObject({
        status: 'terminating',
        owed: { attempts: 1 },
        lastError: { code: 'not-confirmed' },
      })
    },
  },
  {
    rule: 'mayStillArrive',
    what: 'one that is being made is not gone because it is not there yet',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'coming', { status: 'provisioning', ageMs: 1000 })
      fleet.driver.alive.delete('coming')
      const ending = terminateSandbox(fleet.context, 'coming', operator)
      expect(await finish(fleet.clock, ending)).toBe('owed')
      expect(await statusOf(fleet.store, 'coming')).toBe('terminating')
    },
  },
  {
    rule: 'mayAsk',
    what: 'a provider is never asked about an id that is not in the ledger',
    run: async (rules) => {
      const { clock, context, driver } = setup({ rules })
      const ending = terminateSandbox(context, 'unheard-of', operator)
      expect(await codeOf(finish(clock, ending))).toBe('unknown-sandbox')
      expect(driver.calls).toEqual([])
    },
  },
  {
    rule: 'isDestroyDue',
    what: 'a destroy that is under way is not begun a second time',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'doomed')
      fleet.driver.onTerminate = () => new Promise(() => undefined)
      void terminateSandbox(fleet.context, 'doomed', operator)
      await fleet.clock.advance(0)
      const second = terminateSandbox(fleet.context, 'doomed', operator)
      await fleet.clock.advance(0)
      expect(fleet.driver.terminated).toEqual(['doomed'])
      expect(await second).toBe('in-progress')
    },
  },
  {
    rule: 'isWithinBudget',
    what: 'a pass ends so many and no more',
    run: async (rules) => {
      const fleet = setup({ rules, policy: { maxKillsPerPass: 2 } })
      for (const id of ['a', 'b', 'c', 'd', 'e']) await given(fleet, id)
      const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
      expect(fleet.driver.terminated).toHaveLength(2)
      expect(report).toMatchObject({ outcome: 'more', found: 5, cleaned: 2 })
    },
  },
  {
    rule: 'isWithinBudget',
    what: 'an emergency and a reconciliation have a budget too',
    run: async (rules) => {
      const fleet = setup({ rules, policy: { maxKillsPerPass: 1, maxEmergencyKills: 2 } })
      for (const id of ['a', 'b', 'c']) await given(fleet, id)
      for (const id of ['x', 'y']) {
        fleet.driver.alive.set(id, { environment: 'test', createdAt: 0, ownerAlive: false })
      }
      await finish(fleet.clock, runCleanup(fleet.context, 'emergency'))
      expect(fleet.driver.terminated).toHaveLength(2)
      await finish(fleet.clock, runReconcile(fleet.context))
      expect(fleet.driver.terminated).toHaveLength(3)
    },
  },
  {
    rule: 'hasReason',
    what: 'nobody ends a sandbox without saying why',
    run: async (rules) => {
      const fleet = setup({ rules })
      await given(fleet, 'a')
      const ending = terminateSandbox(fleet.context, 'a', { ...operator, detail: ' ' })
      expect(await codeOf(finish(fleet.clock, ending))).toBe('invalid-record')
      expect(fleet.driver.calls).toEqual([])
      expect(await statusOf(fleet.store, 'a')).toBe('running')
    },
  },
  {
    rule: 'hasValidId',
    what: 'an entry of a list that cannot be an id is skipped and counted',
    run: async (rules) => {
      const { clock, context, driver } = setup({ rules })
      driver.alive.set('../../etc', { environment: 'test', createdAt: 0, ownerAlive: false })
      driver.alive.set('orphan', { environment: 'test', createdAt: 0, ownerAlive: false })
      const report = await finish(clock, runReconcile(context))
      expect(report).toMatchObject({ outcome: 'completed', skipped: 1 })
      expect(driver.terminated).toEqual(['orphan'])
    },
  },
]
