import type { KillReason, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { RuleContext, SafetyRules } from '../safety/safety-rules.ts'

/**
 * `scheduled`: what is over its time. `pressure`: what has no holder as well, though it is not idle
 * for long. `emergency`: everything that is not critical, in use or not.
 */
export type CleanupMode = 'scheduled' | 'pressure' | 'emergency'

/** Why a sandbox was left as it is. */
export type SpareReason =
  | 'other-environment'
  | 'young'
  | 'leased'
  | 'active'
  | 'critical'
  | 'not-due'
  | 'gone'

export type Verdict =
  | { readonly action: 'destroy'; readonly reason: KillReason; readonly detail: string }
  /** A destroy is owed. */
  | { readonly action: 'retry' }
  | { readonly action: 'spare'; readonly because: SpareReason }

export interface JudgeContext extends RuleContext {
  readonly rules: SafetyRules
  readonly mode: CleanupMode
}

/** What a cleanup does with a sandbox, by what is recorded of it. Pure. */
export function judge(record: SandboxRecord, context: JudgeContext): Verdict {
  const { rules } = context
  if (!rules.hasOwnLabel(record.environment, context)) return spare('other-environment')
  if (record.status === 'terminated') return spare('gone')
  if (record.status === 'terminating') {
    return rules.isDestroyDue(record, context) ? { action: 'retry' } : spare('not-due')
  }
  if (!rules.isPastGrace(record.createdAt, context)) return spare('young')
  if (context.mode === 'emergency') return judgeInEmergency(record)
  return judgeByTime(record, context)
}

function judgeInEmergency(record: SandboxRecord): Verdict {
  if (record.critical) return spare('critical')
  return destroy('emergency', 'an emergency cleanup ends everything that is not critical')
}

function judgeByTime(record: SandboxRecord, context: JudgeContext): Verdict {
  const { now, policy, rules } = context
  if (!rules.isSilent(record, context)) return spare('leased')
  if (record.deadlineAt !== undefined && record.deadlineAt <= now) {
    return destroy('deadline', `its deadline passed ${minutes(now - record.deadlineAt)} ago`)
  }
  if (record.status === 'failed') {
    return destroy('failed', record.lastError?.code ?? 'it failed, and may still be there')
  }
  if (record.status === 'running') return judgeRunning(record, context)
  const dueAt = (record.provisionDeadlineAt ?? record.createdAt) + policy.clockSkewMs
  if (now < dueAt) return spare('not-due')
  return destroy(
    'provisioning-timeout',
    `it did not start within ${minutes(now - record.createdAt)}`,
  )
}

function judgeRunning(record: SandboxRecord, context: JudgeContext): Verdict {
  const { mode, now, policy, rules } = context
  if (!rules.isUnleased(record, context)) {
    const isTooLong = rules.isHeldTooLong(record, context)
    return isTooLong ? destroy('deadline', heldTooLong(policy)) : spare('leased')
  }
  if (record.lease?.kind === 'pool') {
    return destroy('pool-expired', 'it was not reused while it waited in the pool')
  }
  const idle = `nothing happened for ${minutes(now - record.lastActivityAt)}, and it has no holder`
  if (rules.isIdle(record, policy.stuckAfterMs, context)) return destroy('idle', idle)
  const isPressed = mode === 'pressure' && rules.isIdle(record, policy.pressureIdleMs, context)
  return isPressed ? destroy('pressure', `${idle}, while room is short`) : spare('active')
}

function heldTooLong({ maxHoldMs }: RuleContext['policy']): string {
  return `its run holds it for more than ${minutes(maxHoldMs)}, the longest time that a run may`
}

function destroy(reason: KillReason, detail: string): Verdict {
  return { action: 'destroy', reason, detail }
}

function spare(because: SpareReason): Verdict {
  return { action: 'spare', because }
}

/** A time for people. */
export function minutes(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
}
