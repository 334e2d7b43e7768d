import { FleetError } from '@helix-agents/core/runtime'
import { type FleetContext, ruleContext } from '../fleet-context.ts'
import { applyEvent, createRecord } from '../ledger/lifecycle.ts'
import {
  holding,
  type OwnerHold,
  type SandboxActivity,
  withActivity,
  withClaim,
  withRenewal,
} from '../ledger/record-changes.ts'
import { parseNewSandbox } from '../ledger/record-schema.ts'
import type {
  SandboxClaim,
  SandboxError,
  SandboxLabels,
  SandboxRecord,
} from '../ledger/sandbox-record.ts'
import { changeRecord } from '../store/change-record.ts'

/** A sandbox that is being made or was opened. */
export interface SandboxDescription extends SandboxLabels {
  readonly id: string
  readonly provider: string
  /** Spared by an emergency. Default false. */
  readonly critical?: boolean
  /** Longest life from now on, in milliseconds. Default: that of the policy. */
  readonly maxLifetimeMs?: number
}

/** The hold of a run, from now on: of the time that is kept. */
export function ownerHold({ claims, clock, policy }: FleetContext, holder: string): OwnerHold {
  claims.addOwn(holder)
  const now = clock.now()
  const claim = { kind: 'owner', holder, until: now + policy.ownerLeaseMs } as const
  return { claim, holdDeadlineAt: now + policy.maxHoldMs }
}

/**
 * Records that a sandbox is about to be made: before it is, so that a crash leaves something to
 * heal. With `maxActive` this takes one of so many places.
 * @throws {FleetError} `already-exists`, `capacity-exhausted`, `invalid-record`, `unavailable`
 */
export async function recordProvisioning(
  context: FleetContext,
  sandbox: SandboxDescription,
  options: { readonly holder: string; readonly maxActive?: number },
): Promise<SandboxRecord> {
  const { clock, environment, policy, store } = context
  await clock.keepTime()
  const { maxLifetimeMs = policy.maxLifetimeMs, ...labels } = sandbox
  const now = clock.now()
  const hold = ownerHold(context, options.holder)
  const record = createRecord(
    parseNewSandbox({
      ...labels,
      environment,
      createdAt: now,
      provisionDeadlineAt: now + policy.provisionTimeoutMs,
      ...(maxLifetimeMs !== undefined && { deadlineAt: now + maxLifetimeMs }),
      claim: hold.claim,
      ...(sandbox.critical !== true && { holdDeadlineAt: hold.holdDeadlineAt }),
    }),
  )
  const { maxActive } = options
  const stored = await store.create(record, maxActive === undefined ? {} : { maxActive })
  context.emit('created', stored)
  return stored
}

/**
 * Records that a sandbox is open and held; makes its record if there is none. A destroy that its
 * owner asked for and nobody is at is called off: it is used again.
 * @throws {FleetError} `invalid-transition` when it is being destroyed, `invalid-record`
 */
export async function recordOpened(
  context: FleetContext,
  sandbox: SandboxDescription,
  holder: string,
): Promise<SandboxRecord> {
  try {
    await recordProvisioning(context, sandbox, { holder })
  } catch (error) {
    if (!FleetError.isInstance(error) || error.code !== 'already-exists') throw error
  }
  let hasStarted = false
  await context.clock.keepTime()
  const now = context.clock.now()
  const hold = ownerHold(context, holder)
  const stored = await changeRecord(context.store, sandbox.id, (record) => {
    hasStarted = record.status !== 'running'
    const running = hasStarted
      ? applyEvent(record, { type: reopening(context, record) }, now)
      : { ...record, version: record.version + 1, lastActivityAt: now }
    return holding(withLabels(running, sandbox), hold)
  })
  if (hasStarted) context.emit('started', stored)
  return stored
}

/** A reconciliation may have adopted it before its owner reported whose it is. */
function withLabels(record: SandboxRecord, sandbox: SandboxDescription): SandboxRecord {
  const { agentType, critical, sessionId, taskId, tenant } = { ...sandbox, ...record }
  return {
    ...record,
    critical: critical || sandbox.critical === true,
    ...(agentType !== undefined && { agentType }),
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(tenant !== undefined && { tenant }),
  }
}

/**
 * Records that a sandbox is about to be contacted, made anew or attached to again.
 * @throws {FleetError} `invalid-transition` while it is being destroyed, `invalid-record`
 */
export async function recordOpening(
  context: FleetContext,
  sandbox: SandboxDescription,
  holder: string,
): Promise<void> {
  try {
    await recordProvisioning(context, sandbox, { holder })
    return
  } catch (error) {
    if (!FleetError.isInstance(error) || error.code !== 'already-exists') throw error
  }
  // It may be made already: only that it is running says no more than is known.
  const { status } = (await context.store.get(sandbox.id)) ?? {}
  if (status === 'provisioning') await renewClaim(context, sandbox.id, { holder })
  else await recordOpened(context, sandbox, holder)
}

/** Only what its owner gave up itself is given back, and not under the hands of a sweeper. */
function reopening(context: FleetContext, record: SandboxRecord): 'started' | 'reclaim' {
  const isOwners = record.kill?.reason === 'owner-closed'
  return isOwners && context.rules.isDestroyDue(record, ruleContext(context))
    ? 'reclaim'
    : 'started'
}

/** Who renews a claim. */
export interface ClaimRenewal {
  readonly holder: string
  /** The life that is held: a later one of the same id is somebody else's. */
  readonly lifetime?: number
  /** Gets the record as it is then. */
  readonly onStored?: (record: SandboxRecord) => void
}

/**
 * Renews the claim of a run.
 * @returns false when the sandbox is not to be used any more.
 * @throws {FleetError} `unknown-sandbox`
 */
export async function renewClaim(
  context: FleetContext,
  id: string,
  renewal: ClaimRenewal,
): Promise<boolean> {
  await context.clock.keepTime()
  const hold = ownerHold(context, renewal.holder)
  const stored = await changeRecord(context.store, id, (record) =>
    isKept(record, renewal) ? withRenewal(record, hold) : undefined,
  )
  renewal.onStored?.(stored)
  return isKept(stored, renewal)
}

/** Adds what was done, and renews the claim with the same write. */
export async function recordActivity(
  context: FleetContext,
  id: string,
  activity: SandboxActivity & ClaimRenewal,
): Promise<boolean> {
  await context.clock.keepTime()
  // By a clock that has leapt it may lie ahead.
  const done = { ...activity, at: Math.min(activity.at, context.clock.now()) }
  const hold = ownerHold(context, activity.holder)
  const stored = await changeRecord(context.store, id, (record) =>
    isKept(record, activity)
      ? { ...withRenewal(withActivity(record, done), hold), version: record.version + 1 }
      : undefined,
  )
  activity.onStored?.(stored)
  if (activity.timeouts > 0) context.emit('timeout', stored)
  return isKept(stored, activity)
}

/** What a sandbox waits for, and for how long from now on. */
export interface Waiting {
  readonly kind: Exclude<SandboxClaim['kind'], 'owner'>
  readonly holder: string
  readonly lastsMs: number
}

/**
 * Lets go of a sandbox that stays, for its session or for a pool; undefined: for nobody. It counts
 * as a use, so that another process that shares it has the time to renew its own claim.
 */
export async function recordReleased(
  context: FleetContext,
  id: string,
  release: { readonly holder: string; readonly waiting: Waiting | undefined },
): Promise<void> {
  await context.clock.keepTime()
  const now = context.clock.now()
  const { holder, waiting } = release
  const claim = waiting && {
    kind: waiting.kind,
    holder: waiting.holder,
    until: now + waiting.lastsMs,
  }
  await changeRecord(context.store, id, (record) => {
    const isHeld = record.claim === undefined || record.claim.holder === holder
    if (!isUsable(record) || !isHeld) return undefined
    return { ...withClaim(record, claim), lastActivityAt: Math.max(record.lastActivityAt, now) }
  })
}

/** The end of a sandbox, as one of its holders tells it. */
export interface ToldEnd {
  readonly detail: string
  /** Who tells it: what somebody else holds by now is not ended by it. */
  readonly holder?: string
}

/** Notes that a sandbox is gone, as its provider says. */
export async function recordGone(context: FleetContext, id: string, end: ToldEnd): Promise<void> {
  const { detail, holder } = end
  await context.clock.keepTime()
  const now = context.clock.now()
  let wasThere = false
  const stored = await changeRecord(context.store, id, (record) => {
    wasThere = record.status !== 'terminated' && !isOthers(context, record, holder)
    if (!wasThere) return undefined
    return applyEvent(record, { type: 'vanish', detail }, now)
  })
  if (wasThere) context.emit('vanished', stored)
}

/** Notes that a sandbox should be gone and may still be there: the next sweep destroys it. */
export async function recordOwed(context: FleetContext, id: string, end: ToldEnd): Promise<void> {
  const { detail, holder } = end
  await context.clock.keepTime()
  const now = context.clock.now()
  const kill = { reason: 'owner-closed', detail, by: 'owner' } as const
  await changeRecord(context.store, id, (record) => {
    if (record.status === 'terminating' || record.status === 'terminated') return undefined
    if (isOthers(context, record, holder)) return undefined
    return applyEvent(record, { type: 'terminate', kill, retryAt: now }, now)
  })
}

/** Notes that a sandbox could not be made or cannot be used. */
export async function recordFailed(
  context: FleetContext,
  id: string,
  error: Omit<SandboxError, 'at'> & { readonly holder?: string },
): Promise<void> {
  const { holder } = error
  await context.clock.keepTime()
  const now = context.clock.now()
  let hasFailed = false
  const stored = await changeRecord(context.store, id, (record) => {
    hasFailed = isUsable(record) && !isOthers(context, record, holder)
    return hasFailed ? applyEvent(record, { type: 'fail', error }, now) : undefined
  })
  if (hasFailed) context.emit('failed', stored)
}

/** Whether who renews a claim may go on: what waits in a pool was let go. */
function isKept(record: SandboxRecord, { lifetime = record.lifetime }: ClaimRenewal): boolean {
  return isUsable(record) && record.lifetime === lifetime && record.claim?.kind !== 'pool'
}

/** Whether somebody else uses it by now, such as the process that goes on with the session. */
function isOthers(
  context: FleetContext,
  { claim }: SandboxRecord,
  holder: string | undefined,
): boolean {
  if (holder === undefined || claim?.kind !== 'owner' || claim.holder === holder) return false
  return claim.until > context.clock.now()
}

function isUsable({ status }: SandboxRecord): boolean {
  return status === 'running' || status === 'provisioning'
}
