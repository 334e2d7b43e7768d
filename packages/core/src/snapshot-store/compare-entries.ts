import { createTimeSlice } from '../time/slice.ts'
import { compareCodePoints } from '../modules/fs/path/path.ts'
import type { SnapshotEntry } from './manifest.ts'

/** One path that two snapshots hold differently. */
export interface SnapshotDifference {
  readonly path: string
  /** Absent: it was added. */
  readonly from?: SnapshotEntry
  /** Absent: it was removed. */
  readonly to?: SnapshotEntry
  /** `content` covers the type, the bytes and the target of a link. */
  readonly change: 'added' | 'removed' | 'content' | 'mode'
}

/** What differs between two lists of entries, both sorted by path. Versions do not count. */
export async function compareEntries(
  from: readonly SnapshotEntry[],
  to: readonly SnapshotEntry[],
): Promise<readonly SnapshotDifference[]> {
  const slice = createTimeSlice()
  const differences: SnapshotDifference[] = []
  for (let left = 0, right = 0; left < from.length || right < to.length;) {
    if (slice.due) await slice.pause()
    const order = orderOf(from[left], to[right])
    const difference = compareTwo(
      order <= 0 ? from[left] : undefined,
      order >= 0 ? to[right] : undefined,
    )
    if (difference !== undefined) differences.push(difference)
    if (order <= 0) left += 1
    if (order >= 0) right += 1
  }
  return differences
}

function orderOf(from: SnapshotEntry | undefined, to: SnapshotEntry | undefined): number {
  if (from === undefined) return 1
  return to === undefined ? -1 : compareCodePoints(from.path, to.path)
}

function compareTwo(
  from: SnapshotEntry | undefined,
  to: SnapshotEntry | undefined,
): SnapshotDifference | undefined {
  if (from === undefined) return to && { path: to.path, to, change: 'added' }
  if (to === undefined) return { path: from.path, from, change: 'removed' }
  const { path } = from
  if (contentOf(from) !== contentOf(to)) return { path, from, to, change: 'content' }
  return modeOf(from) === modeOf(to) ? undefined : { path, from, to, change: 'mode' }
}

function contentOf(entry: SnapshotEntry): string {
  if (entry.type === 'symlink') return `${entry.type} ${entry.target}`
  return entry.type === 'file' ? `${entry.size} ${entry.blocks.join()}` : entry.type
}

function modeOf(entry: SnapshotEntry): number | undefined {
  return entry.type === 'symlink' ? undefined : entry.mode
}
