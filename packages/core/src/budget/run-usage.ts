import type { TokenUsage } from '../llm/llm-adapter.ts'

/**
 * What a run has used: an `execute` with all that resumed it, and its sub-agents. Stored with the
 * session, so that a limit holds across processes.
 */
export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** In the unit of the budget's `costOf`; absent where no price is known. */
  readonly cost?: number
  /** Answers of the model that came with their usage, failed ones included. */
  readonly modelCalls: number
  /** Time in which a process worked on it; breaks between two do not count. */
  readonly durationMs: number
}

/** The start of a run. */
export const NO_USAGE: RunUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  modelCalls: 0,
  durationMs: 0,
})

/**
 * What one model call uses; what is no amount counts as nothing. Without a cost its price is not
 * known.
 */
export function runUsageOf(usage: TokenUsage, cost?: number): RunUsage {
  const inputTokens = amountOf(usage.inputTokens)
  const outputTokens = amountOf(usage.outputTokens)
  const totalTokens = amountOf(usage.totalTokens ?? inputTokens + outputTokens)
  const paid = cost === undefined ? {} : { cost: amountOf(cost) }
  return { inputTokens, outputTokens, totalTokens, ...paid, modelCalls: 1, durationMs: 0 }
}

/** Providers and prices come from outside: one `NaN` would switch off every limit for good. */
function amountOf(given: number | undefined): number {
  return given !== undefined && Number.isFinite(given) && given > 0 ? given : 0
}

/** Both together. */
export function addRunUsage(one: RunUsage, other: RunUsage): RunUsage {
  const isPriced = one.cost !== undefined || other.cost !== undefined
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(isPriced ? { cost: (one.cost ?? 0) + (other.cost ?? 0) } : {}),
    modelCalls: one.modelCalls + other.modelCalls,
    durationMs: one.durationMs + other.durationMs,
  }
}
