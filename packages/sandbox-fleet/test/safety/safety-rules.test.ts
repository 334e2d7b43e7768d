// Each rule has a scenario that goes wrong without it: the same scenario runs with all rules, and
// again with that one rule removed, where it must fail.
import { describe, expect, test } from 'vitest'
import { safetyRules } from '../../src/safety/safety-rules.ts'
import { ruleScenarios } from './rule-scenarios.ts'
import { ruleNames, withoutRule } from './without-rule.ts'

describe('with all rules', () => {
  test.each(ruleScenarios)('$rule: $what', async ({ run }) => {
    await expect(run(safetyRules)).resolves.toBeUndefined()
  })
})

describe('with one rule removed, its scenario fails', () => {
  test.each(ruleScenarios)('$rule: $what', async ({ rule, run }) => {
    await expect(run(withoutRule(rule))).rejects.toBeInstanceOf(Error)
  })
})

test('every rule has a scenario', () => {
  const covered = new Set(ruleScenarios.map(({ rule }) => rule))
  expect(ruleNames.filter((name) => !covered.has(name))).toEqual([])
})
