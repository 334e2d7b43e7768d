/** Texts that operators search and alert on, as the runbook has them. They do not change. */
export const fleetMessages = {
  cleanupStarted: 'Sandbox cleanup started',
  found: (count: number): string => `Found ${count} sandboxes to cleanup`,
  cleanedUp: (sandboxId: string): string => `Cleaned up ${sandboxId}`,
  cleanupCompleted: 'Cleanup completed',
  /** The pass ended before its time: see `outcome` and `err`. */
  cleanupStopped: 'Sandbox cleanup stopped',
  /** A destroy is not confirmed; it is tried again. */
  destroyOwed: 'Sandbox destroy owed',
  reconcileStarted: 'Sandbox reconciliation started',
  reconcileCompleted: 'Sandbox reconciliation completed',
  /** A listing was partial or failed: nothing is concluded from it. */
  listingRejected: 'Sandbox listing rejected',
  /** The ledger did not take a report; the run it is about goes on. */
  reportLost: 'Sandbox report lost',
  /** A run has held a sandbox for long and loses it soon: see `sessionId` and `endsAt`. */
  holdEnding: 'Sandbox hold ends soon',
  /** The clock of this process differs from that of the ledger, which is used. */
  clockOff: 'Sandbox clock is off',
  /** A sink of alerts failed. */
  alertLost: 'Sandbox alert lost',
} as const
