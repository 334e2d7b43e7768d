/** Texts that operators search and alert on, as the runbook has them. They do not change. */
export const fleetMessages = {
  cleanupStarted: 'Sandbox cleanup started',
  found: (count: number): string => `Found ${count} sandboxes to cleanup`,
  cleanedUp: (sandboxId: string): string => `Cleaned up ${sandboxId}`,
  cleanupCompleted: 'Cleanup completed',
  /** A pass ended early: see `outcome` and `err`. */
  cleanupStopped: 'Sandbox cleanup stopped',
  /** A destroy is not confirmed; it is retried. */
  destroyOwed: 'Sandbox destroy owed',
  reconcileStarted: 'Sandbox reconciliation started',
  reconcileCompleted: 'Sandbox reconciliation completed',
  /** A listing was partial or failed, and is ignored. */
  listingRejected: 'Sandbox listing rejected',
  /** A report was not stored; the run is not affected. */
  reportLost: 'Sandbox report lost',
  /** The hold of a run ends soon: see `sessionId` and `endsAt`. */
  holdEnding: 'Sandbox hold ends soon',
  /** The clock of this process differs from that of the ledger, which is used. */
  clockOff: 'Sandbox clock is off',
  /** A sink of alerts failed. */
  alertLost: 'Sandbox alert lost',
} as const
