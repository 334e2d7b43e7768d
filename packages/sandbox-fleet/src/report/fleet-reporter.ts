import type { SandboxLabels } from '../ledger/sandbox-record.ts'

/** A sandbox that is being made or was opened. */
export interface SandboxDescription extends SandboxLabels {
  readonly id: string
  readonly provider: string
  /** Spared by an emergency. Default false. */
  readonly critical?: boolean
  /** Longest life from now on, in milliseconds. Default: that of the policy. */
  readonly maxLifetimeMs?: number
}

/** One operation in a sandbox. */
export interface ReportedActivity {
  /** Default true. */
  readonly succeeded?: boolean
  /** It timed out. Default false. */
  readonly timedOut?: boolean
}

/**
 * Reports of providers and runtimes to the fleet. All methods but `admit` return at once and never
 * throw: a report that the ledger does not store is retried, and finally logged.
 */
export interface FleetReporter {
  /**
   * Resolves when the ledger has a record: for providers whose sandboxes cannot be listed.
   * @throws {FleetError} `invalid-transition` while it is being destroyed: try again later;
   * `invalid-record`, `unavailable`
   */
  admit(sandbox: SandboxDescription): Promise<void>
  /** It is about to be created. Report it before, where its id is known by then. */
  provisioning(sandbox: SandboxDescription): void
  /** It is usable, created or attached to, and leased from now on. */
  opened(sandbox: SandboxDescription): void
  /** It could not be created, or cannot be used any more. */
  failed(id: string, error: { readonly code: string; readonly message: string }): void
  /** Reports one operation in a sandbox; renews its lease with the next write. */
  activity(id: string, activity?: ReportedActivity): void
  /**
   * It is released and kept for its session, which may resume. With the id of the session, here and
   * below, another session of this process that shares it keeps its lease; without, none does.
   */
  detached(id: string, sessionId?: string): void
  /** It is released without a holder: it sleeps, or a cleanup ends it. */
  released(id: string, sessionId?: string): void
  /** Its provider has confirmed that it is gone. */
  closed(id: string, sessionId?: string): void
  /** It should be gone, and its close timed out or failed. */
  owed(id: string, detail: string, sessionId?: string): void
  /** Sends what is pending. Resolves when every report so far is stored or lost. For tests and the end of a process. */
  flush(): Promise<void>
  /** Stops renewing leases, which then expire. */
  stop(): Promise<void>
}
