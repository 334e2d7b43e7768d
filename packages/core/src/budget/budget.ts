import type { LLMConfig, TokenUsage } from '../llm/llm-adapter.ts'
import type { RunUsage } from './run-usage.ts'

/**
 * Limits of one run, its resumes and its sub-agents. They are checked before each step. A reached
 * limit fails the run with `max-tokens`, `max-cost` or `max-duration`. A started step finishes, so a
 * run may exceed its tokens and its cost by one step; `maxDurationMs` aborts the step.
 */
export interface Budget {
  /** Input and output tokens together. Default: no limit. */
  readonly maxTotalTokens?: number
  /** Default: no limit. */
  readonly maxInputTokens?: number
  /** Default: no limit. */
  readonly maxOutputTokens?: number
  /** In the unit of `costOf`, which it needs. Default: no limit. */
  readonly maxCost?: number
  /** What a model call costs: see `costByPrices`. */
  readonly costOf?: CostOf
  /** Time in which a process works on the run, in milliseconds. Default: no limit. */
  readonly maxDurationMs?: number
}

/**
 * Computes the cost of a model call, in any unit that is the same for all calls. Gets the settings of
 * the call, with the changes of `prepareStep`. When it throws or returns no amount, the run fails with
 * `cost-unknown`. Sub-agents without one use their parent's.
 */
export type CostOf = (usage: TokenUsage, config: LLMConfig) => number

/**
 * The budget limit that a run has reached. `cost-unknown`: `maxCost` is set, and `costOf` returned no
 * amount for a model call.
 */
export type BudgetLimit = 'max-tokens' | 'max-cost' | 'max-duration' | 'cost-unknown'

/** The first reached limit; `undefined` while all hold. */
export function reachedLimit(budget: Budget, spent: RunUsage): BudgetLimit | undefined {
  if (isReached(spent.durationMs, budget.maxDurationMs)) return 'max-duration'
  if (isReached(spent.cost, budget.maxCost)) return 'max-cost'
  const isOutOfTokens =
    isReached(spent.totalTokens, budget.maxTotalTokens) ||
    isReached(spent.inputTokens, budget.maxInputTokens) ||
    isReached(spent.outputTokens, budget.maxOutputTokens)
  return isOutOfTokens ? 'max-tokens' : undefined
}

function isReached(used: number | undefined, limit: number | undefined): boolean {
  return limit !== undefined && used !== undefined && used >= limit
}

const LIMITS = [
  'maxTotalTokens',
  'maxInputTokens',
  'maxOutputTokens',
  'maxCost',
  'maxDurationMs',
] as const
const KEYS: ReadonlySet<string> = new Set<keyof Budget>([...LIMITS, 'costOf'])

/** What is wrong with the budget of an agent. */
export function checkBudget(budget: Budget | undefined, config: LLMConfig): string[] {
  if (budget === undefined) return []
  if (typeof budget !== 'object' || budget === null) return ['budget must be an object']
  const unknown = Object.keys(budget).filter((key) => !KEYS.has(key))
  const bad = LIMITS.filter((key) => budget[key] !== undefined && !(budget[key] > 0))
  return [
    ...unknown.map((key) => `unknown field budget.${key}`),
    ...bad.map((key) => `budget.${key} must be a positive number`),
    ...checkCost(budget, config),
  ]
}

function checkCost({ maxCost, costOf }: Budget, config: LLMConfig): string[] {
  if (costOf === undefined) return maxCost === undefined ? [] : ['budget.maxCost needs costOf']
  if (typeof costOf !== 'function') return ['budget.costOf must be a function']
  const isKnown = costOfCall(costOf, {}, config) !== undefined
  return isKnown ? [] : ['budget.costOf knows no price of this model']
}

/** What a call costs; `undefined` when `costOf` has no amount for it. */
export function costOfCall(
  costOf: CostOf,
  usage: TokenUsage,
  config: LLMConfig,
): number | undefined {
  try {
    const cost: unknown = costOf(usage, config)
    return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : undefined
  } catch {
    return undefined
  }
}
