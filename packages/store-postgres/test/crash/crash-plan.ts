// What each session says and does. Everything follows from its id and the number of the step, so that
// any process can resume it.
export const AGENT = 'crash'

/** What the processes of a test do together. */
export interface CrashPlan {
  readonly sessionIds: readonly string[]
  /** Steps of each session. */
  readonly steps: number
  readonly leaseMs: number
  /** Between two attempts at sessions that other processes hold. */
  readonly pauseMs: number
  /** Also begins sessions: of several that do, a late one would add a turn. */
  readonly begins?: boolean
}

export interface CrashTask extends CrashPlan {
  readonly url: string
  /** Effects append their ids to it. */
  readonly effectLog: string
  /** The clock of the process is wrong by so much. */
  readonly clockAheadMs: number
  /** Kills itself at its n-th point: before or after a call of the store, or beside an effect. */
  readonly dieAtPoint?: number
}

export function callId(sessionId: string, step: number): string {
  return `${sessionId}:${step}`
}

export function textOf(sessionId: string, step: number): string {
  return `step ${step} of ${sessionId}`
}
