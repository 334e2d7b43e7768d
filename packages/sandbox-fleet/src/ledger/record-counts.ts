import type { SandboxRecord } from './sandbox-record.ts'

/** Numbers of one environment, or of all. */
export interface FleetCounts {
  readonly provisioning: number
  /** Running, those that wait for their session left out. */
  readonly running: number
  /** Running ones whose session may be resumed, and that no run uses. */
  readonly detached: number
  /** Destroy requested and not confirmed. */
  readonly terminating: number
  /** Unusable, and possibly still there. */
  readonly failed: number
  /** Confirmed gone, while their records are kept. */
  readonly terminated: number
  /** Sandboxes ever made. */
  readonly created: number
  /** Sandboxes confirmed gone. */
  readonly destroyed: number
}

export type CountName = keyof FleetCounts

export const COUNT_NAMES: readonly CountName[] = [
  'provisioning',
  'running',
  'detached',
  'terminating',
  'failed',
  'terminated',
  'created',
  'destroyed',
]

export const NO_COUNTS: FleetCounts = {
  provisioning: 0,
  running: 0,
  detached: 0,
  terminating: 0,
  failed: 0,
  terminated: 0,
  created: 0,
  destroyed: 0,
}

/** What a record adds to the counts. `created - destroyed` is always what is not terminated. */
export function countsOf(record: SandboxRecord): Partial<Record<CountName, number>> {
  const isGone = record.status === 'terminated'
  const isDetached = record.status === 'running' && record.lease?.kind === 'detached'
  return {
    [isDetached ? 'detached' : record.status]: 1,
    created: record.generation,
    destroyed: isGone ? record.generation : record.generation - 1,
  }
}

/** How the counts change when one version of a record replaces another. */
export function countChanges(
  before: SandboxRecord | undefined,
  after: SandboxRecord | undefined,
): readonly (readonly [CountName, number])[] {
  const old = before === undefined ? {} : countsOf(before)
  const now = after === undefined ? {} : countsOf(after)
  return COUNT_NAMES.flatMap((name) => {
    const change = (now[name] ?? 0) - (old[name] ?? 0)
    return change === 0 ? [] : [[name, change] as const]
  })
}

/** Sandboxes that count against capacity. */
export function activeOf(counts: FleetCounts): number {
  return counts.provisioning + counts.running + counts.terminating + counts.failed
}
