import { storedError } from './record-schema.ts'
import {
  MAX_SAMPLES,
  type ResourceSample,
  type LeaseRecord,
  type SandboxError,
  type SandboxRecord,
} from './sandbox-record.ts'

// Changes that leave the status as it is. All are pure and make the next version.

/** What was done in a sandbox since the last report. */
export interface SandboxActivity {
  readonly at: number
  /** Operations that ended, whatever their result. */
  readonly operations: number
  readonly timeouts: number
  /** Those of them since the last operation that succeeded. */
  readonly timeoutsInARow: number
  /** At least one operation succeeded. */
  readonly succeeded: boolean
}

/** Adds what was done. */
export function withActivity(record: SandboxRecord, activity: SandboxActivity): SandboxRecord {
  const { at, operations, timeouts, timeoutsInARow, succeeded } = activity
  const before = succeeded ? 0 : record.consecutiveTimeouts
  return {
    ...record,
    version: record.version + 1,
    lastActivityAt: Math.max(at, record.lastActivityAt),
    operations: record.operations + operations,
    timeouts: record.timeouts + timeouts,
    consecutiveTimeouts: before + timeoutsInARow,
  }
}

/** A lease of a run, and until when the run may keep the sandbox if its hold begins now. */
export interface OwnerHold {
  readonly lease: LeaseRecord
  readonly holdDeadlineAt: number
}

/** Begins the hold of a run. The version stays: this is a part of another change. */
export function holding(
  record: SandboxRecord,
  { lease, holdDeadlineAt }: OwnerHold,
): SandboxRecord {
  const { holdDeadlineAt: _before, ...rest } = record
  return record.critical ? { ...rest, lease } : { ...rest, lease, holdDeadlineAt }
}

/** Renews the lease of a run; a continued hold keeps its deadline. */
export function withRenewal(record: SandboxRecord, hold: OwnerHold): SandboxRecord {
  const { lease, holdDeadlineAt } = record
  const isSame = lease?.kind === 'owner' && lease.holder === hold.lease.holder
  const kept = isSame && holdDeadlineAt !== undefined ? { ...hold, holdDeadlineAt } : hold
  return { ...holding(record, kept), version: record.version + 1 }
}

/** Replaces the lease; undefined leaves the sandbox without a holder. */
export function withLease(record: SandboxRecord, lease: LeaseRecord | undefined): SandboxRecord {
  const { lease: _before, holdDeadlineAt: _hold, ...rest } = record
  return { ...rest, ...(lease !== undefined && { lease }), version: record.version + 1 }
}

/** Records a destroy that was attempted and is not confirmed. */
export function withFailedAttempt(
  record: SandboxRecord,
  error: Omit<SandboxError, 'at'>,
  times: { readonly at: number; readonly nextAttemptAt: number },
): SandboxRecord {
  const { at, nextAttemptAt } = times
  const { since = at, attempts = 0 } = record.owed ?? {}
  return {
    ...record,
    version: record.version + 1,
    owed: { since, attempts: attempts + 1, nextAttemptAt },
    lastError: storedError(error, at),
  }
}

/** Reserves the next destroy for this caller until `nextAttemptAt`. */
export function withAttempt(
  record: SandboxRecord,
  { at, nextAttemptAt }: { readonly at: number; readonly nextAttemptAt: number },
): SandboxRecord {
  const { since = at, attempts = 0 } = record.owed ?? {}
  const owed = { since, attempts, nextAttemptAt }
  return { ...record, version: record.version + 1, owed }
}

/** Counts a probe without result. */
export function withUnknownProbe(record: SandboxRecord): SandboxRecord {
  return { ...record, version: record.version + 1, unknownProbes: record.unknownProbes + 1 }
}

/** Keeps a sample, and resets the count of probes without result. */
export function withSample(record: SandboxRecord, sample: ResourceSample): SandboxRecord {
  return {
    ...record,
    version: record.version + 1,
    unknownProbes: 0,
    samples: [...record.samples, sample].slice(-MAX_SAMPLES),
  }
}
