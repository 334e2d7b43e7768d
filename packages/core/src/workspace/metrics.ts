import type { WorkspaceState } from '../registry/entry/state-machine.ts'

/** Names of a workspace in every metric: bounded, never a session or a path. */
export interface WorkspaceLabels {
  readonly workspace: string
  readonly providerId: string
}

/** Counters and timings of the workspace layer. Every method must be cheap and never throw. */
export interface WorkspaceMetrics {
  incOpen(labels: WorkspaceLabels, outcome: string): void
  incOpenFailure(labels: WorkspaceLabels, code: string): void
  observeOpenMs(labels: WorkspaceLabels, ms: number): void
  /** The backend was found gone. */
  incEviction(labels: WorkspaceLabels): void
  /** An operation succeeded after its workspace was resolved again. */
  incEvictionRetry(labels: WorkspaceLabels): void
  incTransientRetry(labels: WorkspaceLabels): void
  incClose(labels: WorkspaceLabels, mode: 'end' | 'detach'): void
  incCloseTimeout(labels: WorkspaceLabels): void
  incToolCall(labels: WorkspaceLabels, tool: string, outcome: 'success' | 'error'): void
  observeToolMs(labels: WorkspaceLabels, tool: string, ms: number): void
  incPolicyRejection(labels: WorkspaceLabels, code: string): void
  /** @param operation `take`, `restore`, `diff`, `move` or `collect`; a collection is of `all` workspaces. */
  incSnapshot(labels: WorkspaceLabels, operation: string, outcome: 'success' | 'error'): void
  observeSnapshotMs(labels: WorkspaceLabels, operation: string, ms: number): void
  /**
   * A workspace went from `previous` to `state`. It starts as `declared`, which is not
   * reported, and every one that leaves that state ends as `closed`: gauges return to zero.
   */
  setState(labels: WorkspaceLabels, state: WorkspaceState, previous: WorkspaceState): void
}

const ignore = (): void => {}

/** Measures nothing. */
export const noopMetrics: WorkspaceMetrics = {
  incOpen: ignore,
  incOpenFailure: ignore,
  observeOpenMs: ignore,
  incEviction: ignore,
  incEvictionRetry: ignore,
  incTransientRetry: ignore,
  incClose: ignore,
  incCloseTimeout: ignore,
  incToolCall: ignore,
  observeToolMs: ignore,
  incPolicyRejection: ignore,
  incSnapshot: ignore,
  observeSnapshotMs: ignore,
  setState: ignore,
}
