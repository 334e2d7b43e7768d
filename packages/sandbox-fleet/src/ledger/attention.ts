import type { SandboxRecord } from './sandbox-record.ts'

/**
 * The earliest time at which a record may need attention: follows from what is recorded alone, so
 * a store can keep it in an index. Undefined for what is gone. For a running sandbox it is the end
 * of its lease or its last activity, whichever is later; how long it may be idle is added by the
 * reader. In whole milliseconds.
 */
export function attentionAt(record: SandboxRecord): number | undefined {
  const at = exactAttentionAt(record)
  return at === undefined ? undefined : Math.floor(at)
}

function exactAttentionAt(record: SandboxRecord): number | undefined {
  const { lastActivityAt, statusSince } = record
  switch (record.status) {
    case 'provisioning':
      return Math.min(record.provisionDeadlineAt ?? statusSince, deadlineOf(record))
    case 'running':
      return Math.min(Math.max(leasedUntil(record), lastActivityAt), deadlineOf(record))
    case 'terminating':
      return record.owed?.nextAttemptAt ?? statusSince
    case 'failed':
      return statusSince
    default:
      return undefined
  }
}

function leasedUntil({ lease }: SandboxRecord): number {
  return lease?.until ?? 0
}

function deadlineOf(record: SandboxRecord): number {
  const { deadlineAt = Number.MAX_SAFE_INTEGER, holdDeadlineAt = Number.MAX_SAFE_INTEGER } = record
  return Math.min(deadlineAt, holdDeadlineAt)
}
