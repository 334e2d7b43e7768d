import type { RestoreReceipt } from '../workspace/provider.ts'
import type { WorkspaceCapabilityFlags } from '../workspace/ref.ts'
import type { Isolation } from '../workspace/workspace.ts'
import type { WorkspaceState } from './entry-state.ts'
import type { RegistryEntry } from './registry-entry.ts'

/** One workspace as operators see it. Times are milliseconds since the epoch. */
export interface WorkspaceDescription {
  readonly name: string
  readonly providerId: string
  readonly state: WorkspaceState
  /** Known once it was open. */
  readonly isolation?: Isolation
  /** What the agent declares. */
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

/** What can be seen of one entry, copied and frozen. No I/O. */
export function describeEntry(entry: RegistryEntry): WorkspaceDescription {
  const { isolation, receipt, ref } = entry
  return Object.freeze({
    name: entry.name,
    providerId: entry.labels.providerId,
    state: entry.state,
    capabilities: entry.capabilities,
    evictions: entry.evictions,
    retries: entry.retries,
    ...(isolation !== undefined && { isolation }),
    ...(receipt !== undefined && { receipt }),
    ...(ref !== undefined && { refSchemaVersion: ref.schemaVersion }),
    ...describeError(entry),
    ...describeTimes(entry),
  })
}

function describeError({ lastError }: RegistryEntry) {
  return lastError && { lastError: lastError.message, lastErrorCode: lastError.code }
}

function describeTimes(entry: RegistryEntry) {
  const { lastAttemptAt, lastSuccessAt, lastOpAt, openedAt } = entry
  return {
    ...(lastAttemptAt !== undefined && { lastAttemptAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(lastOpAt !== undefined && { lastOpAt }),
    ...(openedAt !== undefined && { openedAt }),
  }
}
