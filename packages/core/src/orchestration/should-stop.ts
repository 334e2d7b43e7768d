/** Why a run ends before the model says so. */
export type StopReason = 'aborted' | 'interrupted' | 'max-duration' | 'max-steps'

export interface StopConditions {
  readonly aborted: boolean
  readonly interrupted: boolean
  /** Steps that this run has finished. */
  readonly steps: number
  readonly maxSteps: number
  readonly elapsedMs: number
  readonly maxDurationMs?: number
}

/** Asked between two steps; `undefined` lets the run go on. */
export function shouldStopExecution(run: StopConditions): StopReason | undefined {
  if (run.aborted) return 'aborted'
  if (run.maxDurationMs !== undefined && run.elapsedMs >= run.maxDurationMs) return 'max-duration'
  if (run.interrupted) return 'interrupted'
  if (run.steps >= run.maxSteps) return 'max-steps'
  return undefined
}
