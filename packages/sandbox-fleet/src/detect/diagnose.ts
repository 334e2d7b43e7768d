import type { ResourceSample, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetPolicy } from '../safety/fleet-policy.ts'
import { minutes } from '../sweep/verdict.ts'
import type { Finding } from './finding.ts'
import { type ResourcePattern, resourcePatterns } from './resource-pattern.ts'

const MANY_ATTEMPTS = 3
const MANY_UNKNOWN = 3
/** Longer than passes are apart. */
const UNTRIED_MS = 15 * 60_000
const BY_HAND = 'End it by hand if it is not needed.'
const NEXT_CLEANUP = 'The next cleanup ends it.'

/** What a diagnosis depends on beside the record. */
export interface DiagnoseContext {
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly policy: FleetPolicy
}

/** All that is wrong with a sandbox, by what is recorded of it. Pure. */
export function diagnose(record: SandboxRecord, context: DiagnoseContext): readonly Finding[] {
  switch (record.status) {
    case 'provisioning':
      return [...overdue(record, context), ...pastDeadline(record, context), ...unreachable(record)]
    case 'running':
      return [
        ...pastDeadline(record, context),
        ...holdEnding(record, context),
        ...lifeOf(record, context),
        ...repeatedTimeouts(record, context),
        ...resources(record, context),
        ...unreachable(record),
      ]
    case 'terminating':
      return owed(record, context)
    case 'failed':
      return [failed(record), ...unreachable(record)]
    default:
      return []
  }
}

function overdue(record: SandboxRecord, { now }: DiagnoseContext): readonly Finding[] {
  const dueAt = record.provisionDeadlineAt ?? record.createdAt
  if (now < dueAt) return []
  return [
    {
      sandboxId: record.id,
      kind: 'provisioning-overdue',
      severity: 'warning',
      reason: `It is being made for ${minutes(now - record.createdAt)}, and should have started.`,
      evidence: { ageMs: now - record.createdAt, overdueMs: now - dueAt },
      nextStep: NEXT_CLEANUP,
      since: dueAt,
    },
  ]
}

function pastDeadline(record: SandboxRecord, { now }: DiagnoseContext): readonly Finding[] {
  const { deadlineAt } = record
  if (deadlineAt === undefined || deadlineAt > now) return []
  return [
    {
      sandboxId: record.id,
      kind: 'past-deadline',
      severity: 'critical',
      reason: `It lives ${minutes(now - deadlineAt)} longer than it may.`,
      evidence: { overdueMs: now - deadlineAt },
      nextStep: 'The next cleanup ends it, in use or not.',
      since: deadlineAt,
    },
  ]
}

/** Its run has held it for so long that it loses it soon, or should have lost it. */
function holdEnding(record: SandboxRecord, { now, policy }: DiagnoseContext): readonly Finding[] {
  const { lease, holdDeadlineAt } = record
  if (holdDeadlineAt === undefined || holdDeadlineAt - policy.holdWarningMs > now) return []
  const leftMs = holdDeadlineAt - now
  const heldMs = policy.maxHoldMs - leftMs
  return [
    {
      sandboxId: record.id,
      kind: 'hold-ending',
      severity: leftMs > 0 ? 'warning' : 'critical',
      reason: `Its run has held it for ${minutes(heldMs)}, and may for ${minutes(policy.maxHoldMs)}.`,
      evidence: { leftMs, holder: lease?.holder ?? '' },
      nextStep:
        leftMs > 0
          ? `A cleanup ends it in ${minutes(leftMs)}, in use or not. Its session is warned.`
          : 'The next cleanup ends it, in use or not.',
      since: holdDeadlineAt - policy.holdWarningMs,
    },
  ]
}

/** How it is held and when something happened in it last. */
function lifeOf(record: SandboxRecord, context: DiagnoseContext): readonly Finding[] {
  const { now, policy } = context
  const { lease } = record
  const isHeld = lease !== undefined && lease.until > now
  // It waits for its session, or in a pool: nothing has to happen in it.
  if (isHeld && lease.kind !== 'owner') return []
  if (now - record.lastActivityAt >= policy.stuckAfterMs) return [stuck(record, isHeld, context)]
  if (!isHeld) return [ownerless(record, context)]
  return now - record.createdAt < policy.warnAfterMs ? [] : [longRunning(record, context)]
}

function evidenceOf(record: SandboxRecord, { now }: DiagnoseContext): Finding['evidence'] {
  const { lease, createdAt, lastActivityAt } = record
  return { ageMs: now - createdAt, idleMs: now - lastActivityAt, holder: lease?.holder ?? '' }
}

function stuck(record: SandboxRecord, isHeld: boolean, context: DiagnoseContext): Finding {
  const { now, policy } = context
  const who = isHeld ? 'its owner holds it' : 'it has no holder'
  return {
    sandboxId: record.id,
    kind: 'stuck',
    severity: 'critical',
    reason: `Nothing happened in it for ${minutes(now - record.lastActivityAt)}, and ${who}.`,
    evidence: evidenceOf(record, context),
    nextStep: isHeld
      ? `Nothing, until its hold is over${leftOf(record, context)}. ${BY_HAND}`
      : NEXT_CLEANUP,
    since: record.lastActivityAt + policy.stuckAfterMs,
  }
}

function ownerless(record: SandboxRecord, context: DiagnoseContext): Finding {
  const { now, policy } = context
  const idleMs = now - record.lastActivityAt
  const leftMs = policy.stuckAfterMs - idleMs
  return {
    sandboxId: record.id,
    kind: 'no-owner',
    severity: 'warning',
    reason: `It has no holder. Nothing happened in it for ${minutes(idleMs)}.`,
    evidence: evidenceOf(record, context),
    nextStep: `A cleanup ends it in ${minutes(leftMs)}, unless it is used.`,
    since: record.lease?.until ?? record.createdAt,
  }
}

function longRunning(record: SandboxRecord, context: DiagnoseContext): Finding {
  const { now, policy } = context
  return {
    sandboxId: record.id,
    kind: 'long-running',
    severity: 'warning',
    reason: `It runs for ${minutes(now - record.createdAt)}. Its owner holds it and uses it.`,
    evidence: evidenceOf(record, context),
    nextStep: `Nothing, until its hold is over${leftOf(record, context)}.`,
    since: record.createdAt + policy.warnAfterMs,
  }
}

/** When the hold of a sandbox is over, as a part of a sentence. */
function leftOf({ holdDeadlineAt }: SandboxRecord, { now }: DiagnoseContext): string {
  return holdDeadlineAt === undefined ? '' : ` in ${minutes(Math.max(0, holdDeadlineAt - now))}`
}

function repeatedTimeouts(record: SandboxRecord, { policy }: DiagnoseContext): readonly Finding[] {
  const { consecutiveTimeouts, operations, timeouts } = record
  if (consecutiveTimeouts < policy.repeatedTimeouts) return []
  return [
    {
      sandboxId: record.id,
      kind: 'repeated-timeouts',
      severity: 'warning',
      reason: `Its last ${consecutiveTimeouts} operations timed out.`,
      evidence: { consecutiveTimeouts, timeouts, operations },
      nextStep: `Nothing while it is held. ${BY_HAND}`,
      since: record.lastActivityAt,
    },
  ]
}

const PATTERNS: Readonly<Record<ResourcePattern, readonly [reason: string, nextStep: string]>> = {
  'busy-loop': [
    'It computes all the time: probably a loop that does not end.',
    'Nothing until its hold is over. End it by hand, and bound the loop.',
  ],
  hang: [
    'It computes nothing: it waits for something, such as a call without a time limit.',
    'Nothing until its hold is over. End it by hand, and give the call a time limit.',
  ],
  'memory-growth': [
    'It needs ever more memory: probably a leak in what runs in it.',
    'Nothing until its hold is over. End it by hand before the platform does.',
  ],
}

function resources(record: SandboxRecord, { now, policy }: DiagnoseContext): readonly Finding[] {
  // What runs for a short time may well be busy, or wait.
  if (now - record.createdAt < policy.warnAfterMs) return []
  // Where operations end something is done, however little that computes.
  const sinceUse = record.samples.filter(({ at }) => at >= record.lastActivityAt)
  return [
    ...patternsOf(record, record.samples).filter(({ kind }) => kind !== 'hang'),
    ...patternsOf(record, sinceUse).filter(({ kind }) => kind === 'hang'),
  ]
}

function patternsOf(record: SandboxRecord, samples: readonly ResourceSample[]): readonly Finding[] {
  const first = samples[0]
  const last = samples.at(-1)
  if (first === undefined || last === undefined) return []
  return resourcePatterns(samples).map((kind) => ({
    sandboxId: record.id,
    kind,
    severity: 'warning' as const,
    reason: PATTERNS[kind][0],
    evidence: {
      samples: samples.length,
      spanMs: last.at - first.at,
      cpuPercent: last.cpuPercent,
      memoryMb: last.memoryMb,
      grownMb: last.memoryMb - first.memoryMb,
    },
    nextStep: PATTERNS[kind][1],
    since: first.at,
  }))
}

function owed(record: SandboxRecord, { now }: DiagnoseContext): readonly Finding[] {
  const { attempts = 0, nextAttemptAt = now, since = record.statusSince } = record.owed ?? {}
  if (attempts === 0) return untried(record, { now, nextAttemptAt, since })
  return [
    {
      sandboxId: record.id,
      kind: 'destroy-owed',
      severity: attempts >= MANY_ATTEMPTS ? 'critical' : 'warning',
      reason: `It should be gone since ${minutes(now - since)}, and that is not confirmed.`,
      evidence: { attempts, owedMs: now - since, lastError: record.lastError?.code ?? '' },
      nextStep: `It is retried in ${minutes(Math.max(0, nextAttemptAt - now))}.`,
      since,
    },
  ]
}

/** No attempt was made: no pass runs, or none reaches its provider. */
function untried(
  record: SandboxRecord,
  { now, nextAttemptAt, since }: { now: number; nextAttemptAt: number; since: number },
): readonly Finding[] {
  if (now - nextAttemptAt < UNTRIED_MS) return []
  return [
    {
      sandboxId: record.id,
      kind: 'destroy-owed',
      severity: 'critical',
      reason: `It should be gone since ${minutes(now - since)}, and no destroy was attempted.`,
      evidence: { attempts: 0, owedMs: now - since, provider: record.provider },
      nextStep: 'Run the cleanup of a fleet that has a driver for its provider.',
      since,
    },
  ]
}

function failed(record: SandboxRecord): Finding {
  return {
    sandboxId: record.id,
    kind: 'failed',
    severity: 'warning',
    reason: 'It cannot be used, and may still be there.',
    evidence: { lastError: record.lastError?.code ?? '' },
    nextStep: NEXT_CLEANUP,
    since: record.statusSince,
  }
}

function unreachable(record: SandboxRecord): readonly Finding[] {
  if (record.unknownProbes < MANY_UNKNOWN) return []
  return [
    {
      sandboxId: record.id,
      kind: 'unreachable',
      severity: 'warning',
      reason: `Its state was unknown in ${record.unknownProbes} probes in a row.`,
      evidence: { unknownProbes: record.unknownProbes },
      nextStep: 'It is left as it is until its state is known. End it by hand if it must go.',
      since: record.statusSince,
    },
  ]
}
