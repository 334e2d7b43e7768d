import { FleetError } from '@helix-agents/core/runtime'
import type { SandboxProbe } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { type FleetContext, ruleContext, targetOf, toSandboxError } from '../fleet-context.ts'
import { applyEvent } from '../ledger/lifecycle.ts'
import { withFailedAttempt } from '../ledger/record-changes.ts'
import type { SandboxKill, SandboxRecord } from '../ledger/sandbox-record.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { changeRecord } from '../store/change-record.ts'
import type { LeaseFence } from '../store/fleet-store.ts'

/** Time after which a destroy without a recorded result may be retried by another process. */
export function attemptMs({ policy }: FleetContext): number {
  return policy.terminateTimeoutMs + 3 * policy.callTimeoutMs * (policy.callRetries + 1)
}

/**
 * Records that a sandbox is to be destroyed, and why. Only the version that was judged is changed:
 * a concurrent use makes this fail. The fence is that of a lease which was kept just before, and
 * the time with it.
 * @throws {FleetError} `conflict`, `lease-lost`, `invalid-transition`, `invalid-record` for a kill
 * without a reason.
 */
export async function recordIntent(
  context: FleetContext,
  record: SandboxRecord,
  kill: Omit<SandboxKill, 'at'>,
  fence: LeaseFence,
): Promise<SandboxRecord> {
  if (!context.rules.hasReason(kill)) {
    throw new FleetError('invalid-record', 'a sandbox is not ended without a reason', {
      sandboxId: record.id,
    })
  }
  const now = context.clock.now()
  const retryAt = now + attemptMs(context)
  const next = applyEvent(record, { type: 'terminate', kill, retryAt }, now)
  await context.store.update(next, { fence })
  context.emit('kill', next)
  return next
}

/**
 * Destroys a sandbox whose intent is recorded, and asks whether it is gone. Until the answer is
 * yes the destroy is owed.
 */
export async function destroyRecorded(
  context: FleetContext,
  record: SandboxRecord,
  driver: GuardedDriver,
): Promise<'destroyed' | 'owed'> {
  const failure = await tryTerminate(record, driver)
  // A reply may be lost although the destroy worked: the sandbox itself decides.
  const probe = await driver.inspect(targetOf(record))
  await context.clock.keepTime()
  const isGone = isGoneForGood(context, record, probe)
  if (isGone) return confirm(context, record)
  await owe(context, record, failure ?? { error: stillThere(probe) })
  return 'owed'
}

/** Whether a probe proves that a sandbox is gone and will not arrive any more. */
export function isGoneForGood(
  context: FleetContext,
  record: SandboxRecord,
  probe: SandboxProbe,
): boolean {
  const { rules } = context
  return rules.isConfirmedGone(probe) && !rules.mayStillArrive(record, ruleContext(context))
}

/** Why a destroy is not confirmed: for the ledger, and what was thrown for the log. */
interface Failure {
  readonly error: ReturnType<typeof toSandboxError>
  readonly err?: unknown
}

async function tryTerminate(
  record: SandboxRecord,
  driver: GuardedDriver,
): Promise<Failure | undefined> {
  try {
    await driver.terminate(targetOf(record))
    return undefined
  } catch (err) {
    return { error: toSandboxError(err), err }
  }
}

function stillThere({ state, detail }: SandboxProbe): ReturnType<typeof toSandboxError> {
  const known = state === 'unknown' ? 'is unknown' : `is ${state}`
  return { code: 'not-confirmed', message: `after the destroy its state ${known}. ${detail ?? ''}` }
}

/** Records that it is gone, unless it has a new generation already. */
async function confirm(context: FleetContext, record: SandboxRecord): Promise<'destroyed'> {
  const now = context.clock.now()
  const stored = await changeRecord(context.store, record.id, (current) =>
    isSameDestroy(current, record) ? applyEvent(current, { type: 'destroyed' }, now) : undefined,
  )
  context.emit('destroyed', stored)
  return 'destroyed'
}

async function owe(
  context: FleetContext,
  record: SandboxRecord,
  { error, err }: Failure,
): Promise<void> {
  const { clock, logger, store } = context
  const at = clock.now()
  const stored = await changeRecord(store, record.id, (current) => {
    if (!isSameDestroy(current, record)) return undefined
    const nextAttemptAt = at + retryDelayMs(context, current.owed?.attempts ?? 0)
    return withFailedAttempt(current, error, { at, nextAttemptAt })
  })
  logger.warn(
    { sandboxId: record.id, attempts: stored.owed?.attempts, code: error.code, err: err ?? error },
    fleetMessages.destroyOwed,
  )
  context.emit('destroy-failed', stored)
}

function isSameDestroy(current: SandboxRecord, record: SandboxRecord): boolean {
  return current.status === 'terminating' && current.generation === record.generation
}

/** Doubles with each attempt, spread by a quarter to both sides. */
function retryDelayMs({ policy, random }: FleetContext, attempts: number): number {
  const delayMs = Math.min(policy.destroyRetryMaxMs, policy.destroyRetryMs * 2 ** attempts)
  return Math.round(delayMs * (0.75 + random() / 2))
}
