import type { RestoreReceipt } from '../workspace/provider.ts'
import type { WorkspaceCapabilityFlags } from '../modules/list.ts'
import type { Containment, Isolation } from '../workspace/workspace.ts'
import type { WorkspaceState } from './entry-state.ts'
import type { RegistryEntry } from './registry-entry.ts'

/** One workspace as operators see it. Times are milliseconds since the epoch. */
export interface WorkspaceDescription {
  /** As the agent declares it. */
  readonly name: string
  /** Kind of its provider. */
  readonly providerId: string
  /** `declared`, `opening`, `open`, `evicted`, `failed`, `closing` or `closed`. */
  readonly state: WorkspaceState
  /** When it got into this state. */
  readonly stateSince: number
  /** Known once it was open. */
  readonly isolation?: Isolation
  /** How the processes of its commands are held, where they run on this host. */
  readonly containment?: Containment
  /** Processes and threads that one command may have at once; absent without such a limit. */
  readonly maxProcesses?: number
  /** What the agent declares. */
  readonly capabilities: WorkspaceCapabilityFlags
  /** Message of the last error. */
  readonly lastError?: string
  /** Its code; the page of errors explains it. */
  readonly lastErrorCode?: string
  /** Last open, resolve or operation that was begun. */
  readonly lastAttemptAt?: number
  /** Last one that succeeded; an answer such as `not-found` is a success of the workspace. */
  readonly lastSuccessAt?: number
  /**
   * The first attempt that no success has followed; absent when the last one succeeded. Grows old
   * while attempts go on and all fail, however often the state changes meanwhile.
   */
  readonly unsuccessfulSince?: number
  /** Last operation, however it ended. */
  readonly lastOpAt?: number
  /** When it was last opened, resolved or switched. */
  readonly openedAt?: number
  /** How often its backend was found gone. */
  readonly evictions: number
  /** Transient retries of open and resolve. */
  readonly retries: number
  /** What the last open brought back: `outcome` is `created`, `reattached`, `restored` or `cold`. */
  readonly receipt?: RestoreReceipt
  /** Version of the stored ref. */
  readonly refSchemaVersion?: number
}

/** What can be seen of one entry, copied and frozen. No I/O. */
export function describeEntry(entry: RegistryEntry): WorkspaceDescription {
  const { containment, isolation, maxProcesses, receipt, ref } = entry
  return Object.freeze({
    name: entry.name,
    providerId: entry.labels.providerId,
    state: entry.state,
    stateSince: entry.stateSince,
    capabilities: entry.capabilities,
    evictions: entry.evictions,
    retries: entry.retries,
    ...(isolation !== undefined && { isolation }),
    ...(containment !== undefined && { containment }),
    ...(maxProcesses !== undefined && { maxProcesses }),
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
  const { lastAttemptAt, lastSuccessAt, unsuccessfulSince, lastOpAt, openedAt } = entry
  return {
    ...(lastAttemptAt !== undefined && { lastAttemptAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(unsuccessfulSince !== undefined && { unsuccessfulSince }),
    ...(lastOpAt !== undefined && { lastOpAt }),
    ...(openedAt !== undefined && { openedAt }),
  }
}
