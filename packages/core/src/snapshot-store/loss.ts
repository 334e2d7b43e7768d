import { sortByCodePoint } from '../modules/fs/path/sort-paths.ts'

/**
 * `mode`: the target has no permissions. `link`: the target has no links, or a link leads out of the
 * root or in a circle. `special-file`: a pipe, a socket or a device. `unreadable`: permission was
 * denied. `path`: a name is no valid text, or the path is past the limits of paths.
 */
export type SnapshotLossKind = 'mode' | 'link' | 'special-file' | 'unreadable' | 'path'

/** One thing that a snapshot or a restored workspace does not hold. */
export interface SnapshotLoss {
  readonly path: string
  readonly kind: SnapshotLossKind
}

/** Sorted, as entries are. */
export function byPath(losses: readonly SnapshotLoss[]): Promise<readonly SnapshotLoss[]> {
  return sortByCodePoint(losses, ({ path }) => path)
}
