import type { BudgetLimit, StopReason } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import type { Run } from '../ports.ts'

/** The outcome of a run that was stopped. */
export function stopped(run: Run, reason: StopReason): RunOutcome {
  if (reason === 'interrupted') return { status: 'interrupted' }
  const { maxSteps } = run.agent
  if (isSpent(reason)) return overBudget(run, reason)
  if (reason === 'max-steps') {
    return failed('max-steps', `the agent did not end within ${maxSteps} steps`)
  }
  const { cause } = run.control
  if (reason === 'max-duration' || cause === 'max-duration') {
    const { maxDurationMs = run.agent.budget?.maxDurationMs } = run.agent
    return failed('max-duration', `the agent did not end within ${maxDurationMs} ms`)
  }
  return { status: cause === 'shutdown' ? 'interrupted' : 'aborted' }
}

type SpentReason = Exclude<BudgetLimit, 'max-duration'>

function isSpent(reason: StopReason): reason is SpentReason {
  return reason === 'max-tokens' || reason === 'max-cost' || reason === 'cost-unknown'
}

/** Its own budget, or that of the agent whose sub-agent it is. */
function overBudget({ meter }: Run, reason: SpentReason): RunOutcome {
  if (reason === 'cost-unknown') {
    return failed(reason, 'budget.maxCost is set, but costOf() returned no price for a model call')
  }
  const { totalTokens, cost, modelCalls } = meter.usage
  const used = reason === 'max-cost' ? `a cost of ${cost}` : `${totalTokens} tokens`
  return failed(reason, `the budget is exhausted: ${used} in ${modelCalls} model calls`)
}

/** The outcome of a run that failed. */
export function failed(code: string, message: string): RunOutcome {
  return { status: 'failed', error: { code, message } }
}
