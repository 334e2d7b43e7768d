import { type SafetyRules, safetyRules } from '../../src/safety/safety-rules.ts'
import type { SandboxRecord } from '@helix-agents/sandbox-fleet'

/** What each rule is when somebody has removed it: it lets everything pass. */
const removed: SafetyRules = {
  isPastGrace: () => true,
  hasOwnLabel: () => true,
  isUnleased: () => true,
  isSilent: () => true,
  isHeldTooLong: () => true,
  isIdle: () => true,
  isWhole: () => true,
  isKnown: () => true,
  isAbandoned: () => true,
  isSeenAbandoned: () => true,
  isConfirmedGone: () => true,
  mayStillArrive: () => false,
  mayAsk: (_record): _record is SandboxRecord => true,
  isDestroyDue: () => true,
  isWithinBudget: () => true,
  hasReason: () => true,
  hasValidId: () => true,
}

export type RuleName = keyof SafetyRules

export const ruleNames = Object.keys(safetyRules) as readonly RuleName[]

/** All rules but one. */
export function withoutRule(name: RuleName): SafetyRules {
  return { ...safetyRules, [name]: removed[name] }
}
