import type { Logger } from '../logging/logger.ts'
import type { FileVersionsSnapshot } from '../modules/fs/versions/file-versions.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Clock } from '../time/clock.ts'
import type { WorkspaceLifecycleListener } from '../workspace/lifecycle-listener.ts'
import type { WorkspaceMetrics } from '../workspace/metrics.ts'
import type { SessionRef, WorkspaceProvider } from '../workspace/provider.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { ChangedBefore } from './entry/change-tracker.ts'
import type { OpenLimit } from './open-limit.ts'

/** How a session ends with its workspaces: for good, or to be resumed later. */
export type CloseMode = 'end' | 'detach'

/** What a close could not do. */
export interface CloseReport {
  /** Workspaces that should be gone, and whose backend may still be there. */
  readonly owed: readonly string[]
}

/** A backend that should be gone and may still be there. */
export interface OwedDestroy {
  readonly workspace: string
  readonly providerId: string
  readonly session: SessionRef
  /** Absent when the backend never got as far as a ref. */
  readonly ref?: WorkspaceRef
  readonly reason: 'timeout' | 'failed'
}

/** Numbers an operator may tune. */
export interface RegistryOptions {
  /** Retries of an open that failed with `transient: true`. Default 3, about 10 s in all. */
  readonly transientRetryAttempts?: number
  /** Time of each workspace's close or detach, in milliseconds. Default 30 000. */
  readonly closeTimeoutMs?: number
  /** Time of one snapshot of the history, in milliseconds. Default 60 000. */
  readonly snapshotTimeoutMs?: number
  /** A failed workspace is tried again after so many milliseconds. Default: only on `reset`. */
  readonly resetAfterMs?: number
  /** Time of one attempt to open, in milliseconds. Default: no limit. */
  readonly openTimeoutMs?: number
  /** Opens and resolves of this registry at once. Default: no limit. */
  readonly maxConcurrentOpens?: number
  /** Equal policy warnings within so many milliseconds are counted, not repeated. Default 60 000. */
  readonly securityWindowMs?: number
}

/** A backend in the place of one that is gone. */
export interface RestoredLost {
  readonly ref: WorkspaceRef
  /** One sentence for the model: whose files these are. */
  readonly detail: string
}

/** What the workspaces of a session need from their runtime. */
export interface RegistryDeps extends RegistryOptions {
  /** By kind. */
  readonly providers: ReadonlyMap<string, WorkspaceProvider>
  readonly session: SessionRef
  /** The refs stored with the session, by workspace name; parsed here. */
  readonly refs?: Readonly<Record<string, unknown>>
  /** The file ledgers stored with the session, by workspace name. */
  readonly ledgers?: Readonly<Record<string, FileVersionsSnapshot>>
  /**
   * Whether the session has used the workspace before: one without a ref has lost its files then,
   * and its model reads so. `'in-source'`: only the session that this one is a branch of has used it,
   * and has the files. Asked before a first open, without I/O. Default: no.
   */
  usedBefore?(name: string): boolean | 'in-source'
  /**
   * Of a workspace with a history: whether its files may differ from its newest snapshot. `unknown`:
   * there is none. Default: `unknown`.
   */
  changedBefore?(name: string): ChangedBefore
  /**
   * Of a workspace with a history whose backend is gone for good, as with the machine it was on: makes
   * one with the files of its newest snapshot. `undefined`: there is none that can be restored.
   * Default: there is none.
   * @throws {WorkspaceFailedError} `transient` when a retry can help.
   */
  restoreLost?(name: string, signal: AbortSignal): Promise<RestoredLost | undefined>
  /**
   * Stores a ref before the first operation uses it; null removes it. `releasesOld`: what it replaces
   * is left behind.
   */
  persistRef(name: string, ref: WorkspaceRef | null, releasesOld?: boolean): Promise<void>
  /** Default: none. */
  readonly logger?: Logger
  /** Default: none. */
  readonly metrics?: WorkspaceMetrics
  /** Receives opens, operations and closes. Default: none. */
  readonly lifecycle?: WorkspaceLifecycleListener
  /** Spans of open, resolve and close. An OpenTelemetry tracer fits as it is. Default: none. */
  readonly tracer?: Tracer
  /** Default: the time of the machine. */
  readonly clock?: Clock
  /** Numbers in [0, 1) for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number
  /** One limit for several registries, instead of `maxConcurrentOpens`. */
  readonly openLimit?: OpenLimit
  /** Takes over a backend whose close timed out or failed. */
  onOwedDestroy?(owed: OwedDestroy): void | Promise<void>
}
