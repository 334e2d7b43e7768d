import { FleetError } from '@helix-agents/core/runtime'
import { type FleetContext, ruleContext } from '../fleet-context.ts'
import { applyEvent, createRecord } from '../ledger/lifecycle.ts'
import {
  holding,
  type OwnerHold,
  type SandboxActivity,
  withActivity,
  withRenewal,
} from '../ledger/record-changes.ts'
import { parseNewSandbox } from '../ledger/record-schema.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type { SandboxDescription } from './fleet-reporter.ts'
import { changeRecord } from '../store/change-record.ts'
import { assertSame, changeOwn, isUsable } from './own-record.ts'

/** The hold of a run, from now on: of the time that is kept. */
export function ownerHold({ leases, clock, policy }: FleetContext, holder: string): OwnerHold {
  leases.addOwn(holder)
  const now = clock.now()
  const lease = { kind: 'owner', holder, until: now + policy.ownerLeaseMs } as const
  return { lease, holdDeadlineAt: now + policy.maxHoldMs }
}

/**
 * Records that a sandbox is about to be created: before it is, so that a crash leaves something to
 * heal. With `maxActive` this reserves capacity.
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
      lease: hold.lease,
      ...(sandbox.critical !== true && { holdDeadlineAt: hold.holdDeadlineAt }),
    }),
  )
  const { maxActive } = options
  const stored = await store.create(record, { ...(maxActive !== undefined && { maxActive }) })
  context.emit('created', stored)
  return stored
}

/**
 * Records that a sandbox is open and held; makes its record if there is none. A destroy that its
 * owner asked for and that is not under way is cancelled: it is used again.
 * @throws {FleetError} `invalid-transition` when it is being destroyed, `invalid-record`;
 * `already-exists` when its id is that of a sandbox of another environment, provider or tenant.
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
    assertSame(context, record, sandbox)
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
 * @throws {FleetError} as `recordOpened`
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
  const record = await context.store.get(sandbox.id)
  if (record !== undefined) assertSame(context, record, sandbox)
  if (record?.status === 'provisioning') await renewLease(context, sandbox.id, { holder })
  else await recordOpened(context, sandbox, holder)
}

/** Only what its owner gave up itself is given back, and not under the hands of a sweeper. */
function reopening(context: FleetContext, record: SandboxRecord): 'started' | 'reclaim' {
  const isOwners = record.kill?.reason === 'owner-closed'
  return isOwners && context.rules.isDestroyDue(record, ruleContext(context))
    ? 'reclaim'
    : 'started'
}

/** Who renews a lease. */
export interface LeaseRenewal {
  readonly holder: string
  /** The generation that is held: a later one of the same id belongs to another holder. */
  readonly generation?: number
  /** Gets the record as it is then. */
  readonly onStored?: (record: SandboxRecord) => void
}

/**
 * Renews the lease of a run.
 * @returns false when the sandbox is not to be used any more.
 * @throws {FleetError} `unknown-sandbox`
 */
export async function renewLease(
  context: FleetContext,
  id: string,
  renewal: LeaseRenewal,
): Promise<boolean> {
  await context.clock.keepTime()
  const hold = ownerHold(context, renewal.holder)
  const stored = await changeOwn(context, id, (record) =>
    isKept(record, renewal) ? withRenewal(record, hold) : undefined,
  )
  renewal.onStored?.(stored)
  return isKept(stored, renewal)
}

/** Adds what was done, and renews the lease with the same write. */
export async function recordActivity(
  context: FleetContext,
  id: string,
  activity: SandboxActivity & LeaseRenewal,
): Promise<boolean> {
  await context.clock.keepTime()
  // By a clock that has leapt it may lie ahead.
  const done = { ...activity, at: Math.min(activity.at, context.clock.now()) }
  const hold = ownerHold(context, activity.holder)
  const stored = await changeOwn(context, id, (record) =>
    isKept(record, activity)
      ? { ...withRenewal(withActivity(record, done), hold), version: record.version + 1 }
      : undefined,
  )
  activity.onStored?.(stored)
  if (activity.timeouts > 0) context.emit('timeout', stored)
  return isKept(stored, activity)
}

/** Whether a renewal is valid: a sandbox in a pool was released. */
function isKept(record: SandboxRecord, { generation = record.generation }: LeaseRenewal): boolean {
  return isUsable(record) && record.generation === generation && record.lease?.kind !== 'pool'
}
