import type { FileVersions } from '../modules/fs/versions/file-versions.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { LiveWorkspace, WorkspaceConfigs } from '../workspace/declaration.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceMetrics } from '../workspace/metrics.ts'
import type { PolicyRejection } from '../modules/define-module.ts'

/** An open workspace, as an operation sees it. */
export interface OpenWorkspace<TLive extends Workspace = Workspace> {
  /** The workspace and its modules. */
  readonly live: TLive
  /** Which versions of which files the agents of the session have read and written. */
  readonly ledger: FileVersions
}

/** How an operation uses a workspace. */
export interface UseOptions {
  /**
   * Running the operation twice is harmless: it may be repeated after an eviction. Default: false.
   */
  readonly idempotent?: boolean
  /** Ends the caller's wait; never the shared open. Default: the caller waits. */
  readonly signal?: AbortSignal
}

/** The workspaces of one session, as tools use them; typed by their declaration where it is known. */
export interface WorkspaceAccess<TWorkspaces extends WorkspaceConfigs = WorkspaceConfigs> {
  readonly clock: Clock
  readonly metrics: WorkspaceMetrics
  /** Whether the session has a workspace of this name. */
  has(name: string): boolean
  /** Id of the provider of a workspace, for logs and metrics. */
  providerId(name: string): string
  /**
   * Opens the workspace when needed and runs an operation on it. When the backend turns out to
   * be gone, it is resolved again and the operation repeated, if that is safe.
   * @throws {WorkspaceFailedError} when it cannot be opened; `closed` after the session's end.
   * @throws {WorkspaceEvictedError} `evicted` when the retry failed too; `outcome-unknown` when
   * an operation that must not run twice was interrupted.
   */
  use<TName extends keyof TWorkspaces & string, T>(
    name: TName,
    operation: (workspace: OpenWorkspace<LiveWorkspace<TWorkspaces[TName]>>) => Promise<T>,
    options?: UseOptions,
  ): Promise<T>
  /** Makes the session use another workspace from now on, durably. The old one is detached. */
  switchTo(name: string, ref: WorkspaceRef): Promise<void>
  /** What the model must read once about the last open: files lost or restored. */
  takeNotice(name: string): string | undefined
  /** One audited, rate-limited warning and a metric. */
  audit(name: string, rejection: PolicyRejection): void
}
