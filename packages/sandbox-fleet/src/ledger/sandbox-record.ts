/**
 * `provisioning`: being made. `running`: usable, also while it sleeps or waits in the pool.
 * `terminating`: to be destroyed, and owed until that is confirmed. `terminated`: confirmed gone.
 * `failed`: unusable, and perhaps still there.
 */
export type SandboxStatus = 'provisioning' | 'running' | 'terminating' | 'terminated' | 'failed'

/** Why a sandbox was ended. */
export type KillReason =
  | 'idle'
  | 'deadline'
  | 'provisioning-timeout'
  | 'failed'
  | 'orphan'
  | 'pressure'
  | 'pool-expired'
  | 'reappeared'
  | 'emergency'
  | 'operator'
  | 'operation-timeout'
  | 'owner-closed'

/** The recorded reason of a kill. */
export interface SandboxKill {
  readonly reason: KillReason
  /** One sentence with the evidence. */
  readonly detail: string
  /** The actor that decided: a sweeper, an operator, the owner. */
  readonly by: string
  /** Milliseconds since the epoch, like every time of a record. */
  readonly at: number
}

/**
 * Who keeps a sandbox, and until when. `owner`: a run uses it and renews the lease. `detached`:
 * its session may be resumed. `pool`: it waits to be used again; the holder is the name of the pool.
 */
export interface LeaseRecord {
  readonly kind: 'owner' | 'detached' | 'pool'
  /** Name of the process, session or pool. */
  readonly holder: string
  /** When it expires; milliseconds since the epoch. */
  readonly until: number
}

/** A destroy that is not confirmed yet. */
export interface PendingDestroy {
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Number of destroy attempts. */
  readonly attempts: number
  /** Time of the next attempt; milliseconds since the epoch. */
  readonly nextAttemptAt: number
}

/** What went wrong last. */
export interface SandboxError {
  readonly code: string
  readonly message: string
  /** Causes reported by the provider, without secrets; at most 1,000 characters. */
  readonly cause?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What a sandbox used at one moment. */
export interface ResourceSample {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Percent of one core; several busy cores exceed 100. */
  readonly cpuPercent: number
  /** Memory in MiB. */
  readonly memoryMb: number
}

/** One step in the life of a sandbox. */
export interface SandboxHistoryEntry {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly event: string
  /** Status after the event. */
  readonly status: SandboxStatus
  readonly detail?: string
}

/** Whose a sandbox is and what it is for. */
export interface SandboxLabels {
  readonly sessionId?: string
  readonly agentType?: string
  readonly taskId?: string
  readonly tenant?: string
}

/** What the ledger knows of one sandbox. */
export interface SandboxRecord extends SandboxLabels {
  readonly id: string
  /** Key of its driver. */
  readonly provider: string
  /** Label of its deployment: no other one ends it. */
  readonly environment: string
  readonly status: SandboxStatus
  /** Rises by one with every change. */
  readonly version: number
  /** Counts how often a sandbox of this id was made, from 1. */
  readonly generation: number
  /** Milliseconds since the epoch, as all times of a record. */
  readonly createdAt: number
  /** Start of the current status; milliseconds since the epoch. */
  readonly statusSince: number
  /** End of the last operation. */
  readonly lastActivityAt: number
  /** Until when it must have started; absent once it has. */
  readonly provisionDeadlineAt?: number
  /** End of its life, in use or not. */
  readonly deadlineAt?: number
  /** The holder and the end of its lease. Absent: no holder. */
  readonly lease?: LeaseRecord
  /** Until when its present holder may keep it; absent without one, and for a critical one. */
  readonly holdDeadlineAt?: number
  /** Spared by an emergency. */
  readonly critical: boolean
  /** Operations in this generation. */
  readonly operations: number
  /** Operations of this generation that timed out. */
  readonly timeouts: number
  /** Timeouts since the last operation that succeeded. */
  readonly consecutiveTimeouts: number
  /** Consecutive probes without result. */
  readonly unknownProbes: number
  /** The last failure. Absent: none. */
  readonly lastError?: SandboxError
  /** Why it was ended. Absent until a destroy is requested. */
  readonly kill?: SandboxKill
  /** A destroy that is not confirmed. Absent: none. */
  readonly owed?: PendingDestroy
  /** The latest, oldest first. */
  readonly samples: readonly ResourceSample[]
  /** The latest steps, oldest first. */
  readonly history: readonly SandboxHistoryEntry[]
}

/** What a new record is made of. */
export interface NewSandbox extends SandboxLabels {
  readonly id: string
  readonly provider: string
  readonly environment: string
  readonly critical?: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly provisionDeadlineAt?: number
  readonly deadlineAt?: number
  readonly lease?: LeaseRecord
  /** Until when its present holder may keep it. */
  readonly holdDeadlineAt?: number
}

/** Steps that a record remembers. */
export const MAX_HISTORY = 20
/** Resource samples that a record remembers. */
export const MAX_SAMPLES = 8
