import type { Capabilities, WorkspaceCapabilityFlags } from '../modules/list.ts'
import type { WorkspaceLabels } from '../workspace/metrics.ts'
import type { RestoreReceipt } from '../workspace/provider.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { Containment, Isolation } from '../workspace/workspace.ts'
import type { EntryHealth } from './entry/entry-health.ts'
import type { SnapshotHealth } from './entry/entry-history.ts'
import type { WorkspaceState } from './entry/state-machine.ts'

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
   * while attempts continue and all fail, however often the state changes in between.
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
  /** When its history last took a snapshot. */
  readonly lastSnapshotAt?: number
  /** When one last failed; absent when one was taken since. */
  readonly snapshotFailedAt?: number
  /** Code of that error. */
  readonly snapshotErrorCode?: string
  /** Version of the stored ref. */
  readonly refSchemaVersion?: number
}

/** What a description is made of. */
export interface DescribedWorkspace {
  readonly labels: WorkspaceLabels
  readonly declared: Capabilities
  readonly state: WorkspaceState
  readonly stateSince: number
  readonly health: EntryHealth
  readonly ref: WorkspaceRef | undefined
  readonly last: LastOpen | undefined
  /** Of its history, when it has one. */
  readonly snapshots: SnapshotHealth | undefined
}

/** What the last open brought back. */
export interface LastOpen {
  readonly receipt: RestoreReceipt
  readonly isolation: Isolation
  readonly containment: Containment | undefined
  readonly maxProcesses: number | undefined
}

/** A frozen copy, made without I/O. */
export function describeWorkspace(entry: DescribedWorkspace): WorkspaceDescription {
  const { labels, declared, state, stateSince, health, ref, last, snapshots } = entry
  const flags = Object.keys(declared).map((name) => [name, true] as const)
  return Object.freeze({
    name: labels.workspace,
    providerId: labels.providerId,
    state,
    stateSince,
    capabilities: Object.freeze(Object.fromEntries(flags)),
    evictions: health.evictions,
    retries: health.retries,
    ...(last !== undefined && { isolation: last.isolation, receipt: last.receipt }),
    ...(last?.containment !== undefined && { containment: last.containment }),
    ...(last?.maxProcesses !== undefined && { maxProcesses: last.maxProcesses }),
    ...(ref !== undefined && { refSchemaVersion: ref.schemaVersion }),
    ...describeHealth(health),
    ...snapshots,
  })
}

function describeHealth(health: EntryHealth) {
  const { lastError, lastAttemptAt, lastSuccessAt, unsuccessfulSince, lastOpAt, openedAt } = health
  return {
    ...(lastError !== undefined && { lastError: lastError.message, lastErrorCode: lastError.code }),
    ...(lastAttemptAt !== undefined && { lastAttemptAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(unsuccessfulSince !== undefined && { unsuccessfulSince }),
    ...(lastOpAt !== undefined && { lastOpAt }),
    ...(openedAt !== undefined && { openedAt }),
  }
}
