import { type Stats, statfsSync, statSync } from 'node:fs'

/** Longer than a clock tick of any kernel (10 ms at 100 Hz). */
const TICK_MS = 25
/** Some file systems store whole seconds, some of these only even ones. */
const WHOLE_SECONDS_MS = 2000 + TICK_MS

/** By the names of Linux: ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS. */
const DATED: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1,
])

/**
 * Whether whatever changes an inode from `nowMs` on gives it another change time, also where times are
 * those of clock ticks. One from the future says nothing.
 */
export function isSettled(ctimeMs: number, nowMs: number): boolean {
  return nowMs - ctimeMs >= (ctimeMs % 1000 === 0 ? WHOLE_SECONDS_MS : TICK_MS)
}

/**
 * The device of a directory, if its file system gives a directory new times whenever a name in it is
 * added, removed or replaced. Those of a network or of a program in user space need not.
 */
export function datedDevice(directory: string): number | undefined {
  return DATED.has(statfsSync(directory).type) ? statSync(directory).dev : undefined
}

/** What tells two states of a file, link or directory apart. Rounded as Node does: see `isSame`. */
export type State = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>

/**
 * Times are rounded to a quarter of a microsecond: opening and reading takes longer, so that a later
 * change has another time. Only the system sets a change time: it moves with content, mode and name.
 */
export function isSame(known: State, stats: State): boolean {
  return (
    known.ctimeMs === stats.ctimeMs &&
    known.ino === stats.ino &&
    known.size === stats.size &&
    known.mtimeMs === stats.mtimeMs &&
    known.dev === stats.dev
  )
}
