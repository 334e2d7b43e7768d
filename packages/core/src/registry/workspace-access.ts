import type { FileLedger } from '../modules/fs/ledger/file-ledger.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceMetrics } from '../workspace/metrics.ts'
import type { PolicyRejection } from '../modules/define-module.ts'

/** An open workspace, as an operation sees it. */
export interface OpenWorkspace {
  readonly live: Workspace
  readonly ledger: FileLedger
}

export interface UseOptions {
  /** Running the operation twice is harmless: it may be repeated after an eviction. */
  readonly idempotent: boolean
  /** Ends the caller's wait; never the shared open. */
  readonly signal?: AbortSignal
}

/** The workspaces of one session, as tools reach them. */
export interface WorkspaceAccess {
  readonly clock: Clock
  readonly metrics: WorkspaceMetrics
  has(name: string): boolean
  providerId(name: string): string
  /**
   * Opens the workspace when needed and runs an operation on it. When the backend turns out to
   * be gone, it is resolved again and the operation repeated, if that is safe.
   * @throws {WorkspaceFailedError} when it cannot be opened; `closed` after the session's end.
   * @throws {WorkspaceEvictedError} `evicted` when the retry failed too; `outcome-unknown` when
   * an operation that must not run twice was interrupted.
   */
  use<T>(
    name: string,
    operation: (workspace: OpenWorkspace) => Promise<T>,
    options: UseOptions,
  ): Promise<T>
  /** Makes the session use another workspace from now on, durably. The old one is detached. */
  switchTo(name: string, ref: WorkspaceRef): Promise<void>
  /** What the model must be told once about the last open: files lost or restored. */
  takeNotice(name: string): string | undefined
  /** One audited, rate-limited warning and a metric. */
  audit(name: string, rejection: PolicyRejection): void
}
