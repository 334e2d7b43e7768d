import type { BudgetLimit } from '../budget/budget.ts'

/** Why a run ends before the model says so. */
export type StopReason = 'aborted' | 'interrupted' | 'max-duration' | 'max-steps' | BudgetLimit

/** The counters and limits that decide whether a run stops. */
export interface StopConditions {
  readonly aborted: boolean
  readonly interrupted: boolean
  /** Steps that this run has finished. */
  readonly steps: number
  readonly maxSteps: number
  readonly elapsedMs: number
  readonly maxDurationMs?: number
  /** The reached budget limit, also of a parent. */
  readonly reachedLimit?: BudgetLimit | undefined
}

/** Called between two steps; `undefined` continues the run. */
export function shouldStopExecution(run: StopConditions): StopReason | undefined {
  if (run.aborted) return 'aborted'
  if (run.maxDurationMs !== undefined && run.elapsedMs >= run.maxDurationMs) return 'max-duration'
  if (run.reachedLimit !== undefined) return run.reachedLimit
  if (run.interrupted) return 'interrupted'
  if (run.steps >= run.maxSteps) return 'max-steps'
  return undefined
}
