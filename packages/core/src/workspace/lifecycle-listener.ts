import type { RestoreReceipt, SessionRef } from './provider.ts'
import type { WorkspaceRef } from './ref.ts'

/** A workspace to which something happened. */
export interface WorkspaceLifecycleEvent {
  /** Name under which the agent declares it. */
  readonly workspace: string
  /** Kind of its provider. */
  readonly providerId: string
  readonly session: SessionRef
  /** Id of what backs it, such as a directory or a container; absent when it was never resolved. */
  readonly workspaceId?: string
  readonly ref?: WorkspaceRef
}

/** A workspace was opened. */
export interface WorkspaceOpenEvent extends WorkspaceLifecycleEvent {
  readonly workspaceId: string
  readonly ref: WorkspaceRef
  /** Whether it was made anew or attached to again. */
  readonly receipt: RestoreReceipt
}

/** An operation of a workspace has ended. */
export interface WorkspaceActivityEvent extends WorkspaceLifecycleEvent {
  readonly workspaceId: string
  /** The operation has a result; that of a command may tell of its failure. */
  readonly succeeded: boolean
  /** A command that took too long and was stopped. */
  readonly timedOut: boolean
}

/** A workspace was closed or detached. */
export interface WorkspaceCloseEvent extends WorkspaceLifecycleEvent {
  readonly workspaceId: string
  /** `end`: its provider ran its end-of-life policy. `detach`: its session may be resumed. */
  readonly mode: 'end' | 'detach'
}

/** A workspace could not be closed: its destroy is owed. */
export interface WorkspaceOwedEvent extends WorkspaceLifecycleEvent {
  /** Its close took too long, or failed: what backs it may still be there. */
  readonly reason: 'timeout' | 'failed'
}

/**
 * Receives lifecycle events of the workspaces of a session, for a ledger of their backends. Every method
 * must be quick; its errors are logged, never thrown.
 */
export interface WorkspaceLifecycleListener {
  /** It was opened or resolved, and is used from now on. */
  onOpen?(event: WorkspaceOpenEvent): void
  /** An operation ended, whatever its result. */
  onActivity?(event: WorkspaceActivityEvent): void
  /** It was closed or detached in time. */
  onClose?(event: WorkspaceCloseEvent): void
  /** It should be gone, and may still be there. */
  onOwed?(event: WorkspaceOwedEvent): void
}
