import { FleetError } from '@helix-agents/core/runtime'
import { type FleetContext, ruleContext } from '../fleet-context.ts'
import { applyEvent } from '../ledger/lifecycle.ts'
import { withAttempt } from '../ledger/record-changes.ts'
import type { KillReason, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { RuleContext } from '../safety/safety-rules.ts'
import { changeRecord } from '../store/change-record.ts'
import { noDriver, unknownSandbox } from '../store/revive-record.ts'
import { attemptMs, destroyRecorded } from './destroy.ts'

/** Who ends a sandbox, and why. */
export interface TerminateRequest {
  readonly reason: KillReason
  /** One sentence for the record. */
  readonly detail: string
  /** The actor that ends it: a person or a part of the fleet. */
  readonly by: string
  /** The life that is meant: a later one of the same id is left alone. Default: the present one. */
  readonly generation?: number
}

/**
 * `destroyed`: confirmed gone. `gone`: it was gone before. `owed`: not confirmed, it is tried
 * again. `in-progress`: another process is destroying it.
 */
export type TerminateOutcome = 'destroyed' | 'gone' | 'owed' | 'in-progress'

/**
 * Ends one sandbox of the ledger now, in use or not. Two that do so at once have one effect.
 * @throws {FleetError} `unknown-sandbox`; `not-supported` when no driver manages its provider,
 * or it is of another environment; `invalid-record` without a reason.
 */
export async function terminateSandbox(
  context: FleetContext,
  id: string,
  request: TerminateRequest,
): Promise<TerminateOutcome> {
  const first = await context.store.get(id)
  if (!context.rules.mayAsk(first)) throw unknownSandbox(id)
  const driver = context.drivers.get(first.provider)
  if (driver === undefined || !context.rules.hasOwnLabel(first.environment, ruleContext(context))) {
    throw noDriver(id)
  }
  if (!context.rules.hasReason(request)) {
    throw new FleetError('invalid-record', 'a sandbox is not ended without a reason', {
      sandboxId: id,
    })
  }
  let acquired: SandboxRecord | undefined
  let isRetry = false
  await context.clock.keepTime()
  const rule = ruleContext(context)
  const stored = await changeRecord(context.store, id, (record) => {
    acquired = acquireDestroy(context, record, { request, rule })
    isRetry = record.status === 'terminating'
    return acquired
  })
  if (acquired === undefined) return isOver(stored, request) ? 'gone' : 'in-progress'
  if (!isRetry) context.emit('kill', stored)
  return destroyRecorded(context, stored, driver)
}

function isOver({ generation, status }: SandboxRecord, request: TerminateRequest): boolean {
  return status === 'terminated' || generation !== (request.generation ?? generation)
}

/** The version in which the destroy is ours; undefined when there is none to do. */
function acquireDestroy(
  context: FleetContext,
  record: SandboxRecord,
  { request, rule }: { readonly request: TerminateRequest; readonly rule: RuleContext },
): SandboxRecord | undefined {
  const { now } = rule
  const retryAt = now + attemptMs(context)
  if (isOver(record, request)) return undefined
  if (record.status !== 'terminating') {
    return applyEvent(record, { type: 'terminate', kill: request, retryAt }, now)
  }
  const isDue = context.rules.isDestroyDue(record, rule)
  return isDue ? withAttempt(record, { at: now, nextAttemptAt: retryAt }) : undefined
}
