import type { LLMConfig, TokenUsage } from '../llm/llm-adapter.ts'
import type { RunUsage } from './run-usage.ts'

/**
 * Limits of one run: of an `execute` with all that resumes it, and its sub-agents. They are looked
 * at before each step; one that is reached ends the run, which then has failed with `max-tokens`,
 * `max-cost` or `max-duration`. A step that was begun is finished, so a run may use somewhat more;
 * only the time stops a step in its middle.
 */
export interface Budget {
  /** Input and output together. */
  readonly maxTotalTokens?: number
  readonly maxInputTokens?: number
  readonly maxOutputTokens?: number
  /** In the unit of `costOf`, which it needs. */
  readonly maxCost?: number
  /** What a model call costs: see `costByPrices`. */
  readonly costOf?: CostOf
  /** Time in which a process works on the run. */
  readonly maxDurationMs?: number
}

/**
 * Says what a model call costs; in any unit, as long as it is the same for all. Gets the settings
 * of the call, those that `prepareStep` changed included. A run whose call it has no amount for,
 * or for which it throws, fails with `cost-unknown`. Sub-agents without one use their parent's.
 */
export type CostOf = (usage: TokenUsage, config: LLMConfig) => number

/**
 * The limit of a budget that a run has reached; `cost-unknown` when there is one of cost, and what
 * a call cost cannot be known.
 */
export type BudgetLimit = 'max-tokens' | 'max-cost' | 'max-duration' | 'cost-unknown'

/** The first limit that is reached; `undefined` while there is none. */
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
