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

/** What was done in a sandbox. */
export interface ReportedActivity {
  /** Default true. */
  readonly succeeded?: boolean
  /** It took too long and was stopped. Default false. */
  readonly timedOut?: boolean
}

/**
 * How providers and runtimes tell the fleet what they do. No method throws or waits: what the
 * ledger does not take at once is told again later, and in the end only logged.
 */
export interface FleetReporter {
  /**
   * Resolves when the ledger has it: for whoever must not make one that nobody would find again.
   * @throws {FleetError} `invalid-transition` while it is being destroyed: try again later;
   * `invalid-record`, `unavailable`
   */
  admit(sandbox: SandboxDescription): Promise<void>
  /** It is about to be made. Tell before it is, where its id is known by then. */
  provisioning(sandbox: SandboxDescription): void
  /** It is usable, made anew or attached to again, and held from now on. */
  opened(sandbox: SandboxDescription): void
  /** It could not be made, or cannot be used any more. */
  failed(id: string, error: { readonly code: string; readonly message: string }): void
  /** Reports one operation in a sandbox; renews its lease with the next write. */
  activity(id: string, activity?: ReportedActivity): void
  /**
   * It is let go and stays: its session may go on. With the id of the session, here and below,
   * another session of this process that shares it keeps it; without, nobody does.
   */
  detached(id: string, sessionId?: string): void
  /** It is let go and stays, for nobody: it sleeps or is cleaned up by itself. */
  released(id: string, sessionId?: string): void
  /** Its provider says that it is gone. */
  closed(id: string, sessionId?: string): void
  /** It should be gone, and its close took too long or failed. */
  owed(id: string, detail: string, sessionId?: string): void
  /** Tells what was done meanwhile. Resolves when everything told so far is stored or given up. For tests and the end of a process. */
  flush(): Promise<void>
  /** Stops renewing leases. What is held then goes over to nobody after a while. */
  stop(): Promise<void>
}
