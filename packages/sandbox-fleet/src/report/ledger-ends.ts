import type { FleetContext } from '../fleet-context.ts'
import { applyEvent } from '../ledger/lifecycle.ts'
import { withLease } from '../ledger/record-changes.ts'
import type { LeaseRecord, SandboxError, SandboxRecord } from '../ledger/sandbox-record.ts'
import { changeOwn, isUsable } from './own-record.ts'

/** What a sandbox waits for, and for how long from now on. */
export interface Waiting {
  readonly kind: Exclude<LeaseRecord['kind'], 'owner'>
  readonly holder: string
  readonly lastsMs: number
}

/**
 * Releases a sandbox that stays, for its session or a pool; undefined: without a holder. It counts
 * as a use, so that another process that shares it has the time to renew its own lease.
 */
export async function recordReleased(
  context: FleetContext,
  id: string,
  release: { readonly holder: string; readonly waiting: Waiting | undefined },
): Promise<void> {
  await context.clock.keepTime()
  const now = context.clock.now()
  const { holder, waiting } = release
  const lease = waiting && {
    kind: waiting.kind,
    holder: waiting.holder,
    until: now + waiting.lastsMs,
  }
  await changeOwn(context, id, (record) => {
    const isHeld = record.lease === undefined || record.lease.holder === holder
    if (!isUsable(record) || !isHeld) return undefined
    return { ...withLease(record, lease), lastActivityAt: Math.max(record.lastActivityAt, now) }
  })
}

/** The end of a sandbox, reported by a holder. */
export interface ReportedEnd {
  readonly detail: string
  /** The reporting holder: a sandbox that another one holds by now is not ended. */
  readonly holder?: string
}

/** Records that a sandbox is gone, as its provider says. */
export async function recordGone(
  context: FleetContext,
  id: string,
  end: ReportedEnd,
): Promise<void> {
  const { detail, holder } = end
  await context.clock.keepTime()
  const now = context.clock.now()
  let wasThere = false
  const stored = await changeOwn(context, id, (record) => {
    wasThere = record.status !== 'terminated' && !isOthers(context, record, holder)
    if (!wasThere) return undefined
    return applyEvent(record, { type: 'vanish', detail }, now)
  })
  if (wasThere) context.emit('vanished', stored)
}

/** Records that a sandbox should be gone and may still be there: the next sweep destroys it. */
export async function recordOwed(
  context: FleetContext,
  id: string,
  end: ReportedEnd,
): Promise<void> {
  const { detail, holder } = end
  await context.clock.keepTime()
  const now = context.clock.now()
  const kill = { reason: 'owner-closed', detail, by: 'owner' } as const
  await changeOwn(context, id, (record) => {
    if (record.status === 'terminating' || record.status === 'terminated') return undefined
    if (isOthers(context, record, holder)) return undefined
    return applyEvent(record, { type: 'terminate', kill, retryAt: now }, now)
  })
}

/** Records that a sandbox could not be created or cannot be used. */
export async function recordFailed(
  context: FleetContext,
  id: string,
  error: Omit<SandboxError, 'at'> & { readonly holder?: string },
): Promise<void> {
  const { holder } = error
  await context.clock.keepTime()
  const now = context.clock.now()
  let hasFailed = false
  const stored = await changeOwn(context, id, (record) => {
    hasFailed = isUsable(record) && !isOthers(context, record, holder)
    return hasFailed ? applyEvent(record, { type: 'fail', error }, now) : undefined
  })
  if (hasFailed) context.emit('failed', stored)
}

/** Whether another holder uses it by now, such as the process that has resumed the session. */
function isOthers(
  context: FleetContext,
  { lease }: SandboxRecord,
  holder: string | undefined,
): boolean {
  if (holder === undefined || lease?.kind !== 'owner' || lease.holder === holder) return false
  return lease.until > context.clock.now()
}
