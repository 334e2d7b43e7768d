import type { WorkspaceCapabilityFlags } from '../workspace/ref.ts'
import type { RestoreReceipt } from '../workspace/provider.ts'
import type { Isolation } from '../workspace/workspace.ts'
import type { WorkspaceState } from './entry-state.ts'

/** One workspace as operators see it. Times are milliseconds since the epoch. */
export interface WorkspaceDescription {
  readonly name: string
  readonly providerId: string
  readonly state: WorkspaceState
  /** Known once it was open. */
  readonly isolation?: Isolation
  readonly capabilities: WorkspaceCapabilityFlags
  /** Message of the last error. */
  readonly lastError?: string
  readonly lastErrorCode?: string
  /** Last open, resolve or operation that was begun. */
  readonly lastAttemptAt?: number
  /** Last one that succeeded. */
  readonly lastSuccessAt?: number
  /** Last operation, however it ended. */
  readonly lastOpAt?: number
  readonly openedAt?: number
  readonly evictions: number
  /** Transient retries of open and resolve. */
  readonly retries: number
  readonly receipt?: RestoreReceipt
  readonly refSchemaVersion?: number
}
