import { FleetError } from '@helix-agents/core/runtime'
import { shortLabel, shortText, storedError } from './record-schema.ts'
import {
  MAX_HISTORY,
  type NewSandbox,
  type SandboxError,
  type SandboxKill,
  type SandboxRecord,
  type SandboxStatus,
} from './sandbox-record.ts'

/** What happens to a sandbox. */
export type SandboxEvent =
  /** It is usable. */
  | { readonly type: 'started' }
  | { readonly type: 'fail'; readonly error: Omit<SandboxError, 'at'> }
  /** It is to be destroyed; until that is confirmed it is owed. `retryAt`: when to retry if no result is recorded. */
  | { readonly type: 'terminate'; readonly kill: Omit<SandboxKill, 'at'>; readonly retryAt: number }
  /** The destroy is confirmed. */
  | { readonly type: 'destroyed' }
  /** It is confirmed gone without our doing. */
  | { readonly type: 'vanish'; readonly detail: string }
  /** It was thought gone and is still there: owed again. */
  | { readonly type: 'reappear'; readonly kill: Omit<SandboxKill, 'at'>; readonly retryAt: number }
  /** Its owner, who had it destroyed, uses it again before a destroy was attempted. */
  | { readonly type: 'reclaim' }
  /** A new one is made under the id of one that is gone. */
  | { readonly type: 'provision'; readonly sandbox: NewSandbox }

/** Name of an event in the life of a sandbox, as in its history. */
export type SandboxEventType = SandboxEvent['type']

type Transitions = Readonly<Partial<Record<SandboxEventType, SandboxStatus>>>

const TRANSITIONS: Readonly<Record<SandboxStatus, Transitions>> = {
  provisioning: {
    started: 'running',
    fail: 'failed',
    terminate: 'terminating',
    vanish: 'terminated',
  },
  running: { fail: 'failed', terminate: 'terminating', vanish: 'terminated' },
  /** Whoever uses it knows better. */
  failed: { started: 'running', terminate: 'terminating', vanish: 'terminated' },
  terminating: { destroyed: 'terminated', vanish: 'terminated', reclaim: 'running' },
  terminated: { reappear: 'terminating', provision: 'provisioning' },
}

/**
 * The status after an event. Pure.
 * @throws {FleetError} `invalid-transition`
 */
export function nextStatus(
  record: Pick<SandboxRecord, 'id' | 'status'>,
  event: SandboxEventType,
): SandboxStatus {
  const next = TRANSITIONS[record.status][event]
  if (next !== undefined) return next
  throw new FleetError('invalid-transition', `a sandbox that is ${record.status} cannot ${event}`, {
    sandboxId: record.id,
  })
}

/** The first version of a record. */
export function createRecord(sandbox: NewSandbox): SandboxRecord {
  const { critical = false, ...rest } = sandbox
  const at = sandbox.createdAt
  return {
    ...rest,
    critical,
    status: 'provisioning',
    version: 1,
    generation: 1,
    statusSince: at,
    lastActivityAt: at,
    operations: 0,
    timeouts: 0,
    consecutiveTimeouts: 0,
    unknownProbes: 0,
    samples: [],
    history: [{ at, event: 'provision', status: 'provisioning' }],
  }
}

/**
 * The next version of a record after an event. Pure; times never go back.
 * @throws {FleetError} `invalid-transition`
 */
export function applyEvent(record: SandboxRecord, event: SandboxEvent, now: number): SandboxRecord {
  const status = nextStatus(record, event.type)
  const at = Math.max(now, record.statusSince)
  const base = event.type === 'provision' ? revived(record, event.sandbox) : record
  const entry = { at, event: event.type, status, ...detailOf(event) }
  return {
    ...withEffects(base, event, at),
    status,
    statusSince: at,
    version: record.version + 1,
    history: [...record.history, entry].slice(-MAX_HISTORY),
  }
}

function revived(record: SandboxRecord, sandbox: NewSandbox): SandboxRecord {
  return { ...createRecord(sandbox), generation: record.generation + 1 }
}

function withEffects(record: SandboxRecord, event: SandboxEvent, at: number): SandboxRecord {
  switch (event.type) {
    case 'fail':
      return { ...record, lastError: storedError(event.error, at) }
    case 'terminate':
    case 'reappear':
      return owing(record, event, at)
    case 'destroyed':
    case 'vanish':
      return settled(record)
    case 'reclaim':
      return { ...reclaimed(record), lastActivityAt: Math.max(at, record.lastActivityAt) }
    case 'started':
      return { ...withoutDeadline(record), lastActivityAt: Math.max(at, record.lastActivityAt) }
    default:
      return record
  }
}

function withoutDeadline(record: SandboxRecord): SandboxRecord {
  const { provisionDeadlineAt: _deadline, ...rest } = record
  return rest
}

function owing(
  record: SandboxRecord,
  { kill, retryAt }: SandboxEvent & { readonly type: 'terminate' | 'reappear' },
  at: number,
): SandboxRecord {
  const owed = { since: at, attempts: 0, nextAttemptAt: retryAt }
  const { by, detail, reason } = kill
  return { ...record, kill: { reason, detail: shortText(detail), by: shortLabel(by), at }, owed }
}

/** Nothing is to be destroyed any more. */
function reclaimed(record: SandboxRecord): SandboxRecord {
  const { kill: _kill, owed: _owed, ...rest } = withoutDeadline(record)
  return rest
}

/** A terminated sandbox has no pending destroy and no holder. */
function settled(record: SandboxRecord): SandboxRecord {
  const { owed: _owed, lease: _lease, holdDeadlineAt: _hold, ...rest } = record
  return rest
}

function detailOf(event: SandboxEvent): { readonly detail?: string } {
  switch (event.type) {
    case 'fail':
      return { detail: shortText(`${event.error.code}: ${event.error.message}`) }
    case 'terminate':
    case 'reappear':
      return { detail: shortText(`${event.kill.reason}: ${event.kill.detail}`) }
    case 'vanish':
      return { detail: shortText(event.detail) }
    default:
      return {}
  }
}
