/** Identifies the run that writes. Stores use it as the fence of each write. */
export interface RunWrite {
  readonly sessionId: string
  readonly runId: string
  readonly now: number
}
