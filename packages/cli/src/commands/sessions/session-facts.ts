import type { JournalEntry, SessionState, SessionStatus } from '@helix-agents/core/runtime'
import type { Tone } from '../../output/cell.ts'

export const SESSION_STATUSES = [
  'idle',
  'running',
  'waiting',
  'interrupted',
  'completed',
  'failed',
  'aborted',
] as const satisfies readonly SessionStatus[]

const TONES: Readonly<Partial<Record<SessionStatus, Tone>>> = {
  running: 'good',
  waiting: 'warning',
  interrupted: 'warning',
  failed: 'bad',
  aborted: 'faint',
}

export function statusCell(status: SessionStatus): { text: string; tone: Tone } | string {
  const tone = TONES[status]
  return tone === undefined ? status : { text: status, tone }
}

/** A process holds it, or has died less than a lease ago. */
export function isHeld({ leaseUntil }: SessionState, now: number): boolean {
  return leaseUntil !== undefined && leaseUntil > now
}

/** Workspaces of a session that ended and could not close them: it failed, or took too long. */
export function owedWorkspaces({ owed = [] }: SessionState): readonly string[] {
  return owed.toSorted()
}

/** Calls that were started and whose effect is unknown; of a session that is held: under way. */
export function openCalls(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  return journal.filter(({ result }) => result === undefined)
}
