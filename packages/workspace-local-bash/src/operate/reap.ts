import { lstatSync, readdirSync, realpathSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { errnoOf } from '../file-system/map-error.ts'
import {
  isOwnerAlive,
  isOwnerElsewhere,
  MARKER_NAME,
  type OwnerMarker,
  readOwner,
} from '../owner.ts'
import { snapshotDirectoryIn } from '../snapshots/local-snapshots.ts'
import { reapLines } from '../snapshots/reap-lines.ts'
import { endTree } from '../shell/processes/process-tree.ts'
import { isHeld, isUnfinished, lastChangeMs, removeUnfinished } from './unfinished.ts'
import { isOwnDirectory, removeDirectory } from '../workspace-directory.ts'

const HOUR_MS = 3_600_000
/** Added to the name of a directory that is being removed. */
export const REAPED = '.reaped'
const NAME = /^(helix-ws-[A-Za-z0-9]{6,64})(\.reaped)?$/

/** Options of `reapLocalBashTmpdirs`. */
export interface ReapOptions {
  /** Where workspaces are made. Default: the temporary directory of the system. */
  readonly tmpdirRoot?: string
  /** How long a workspace whose owner died must have been unused, in milliseconds. Default one hour. */
  readonly graceMs?: number
  /**
   * How long a detached workspace waits to be attached again, and one whose owner cannot be seen
   * from here, such as a process of another container, in milliseconds. Default seven days.
   */
  readonly detachedGraceMs?: number
  /**
   * How long a directory must be unchanged that a process died while making: without a valid
   * marker, and without any file of an agent, in milliseconds. Default one day.
   */
  readonly unfinishedGraceMs?: number
  /**
   * Directory of the snapshots. Default: the one beside the workspaces, where a provider without the
   * option `snapshots.directory` stores them.
   */
  readonly snapshotDirectory?: string
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
  /** Receives what could not be removed. Default: no log. */
  readonly logger?: Logger
  /** Only reports what would be removed. Default false. */
  readonly dryRun?: boolean
}

/** What was found, as names of directories. */
export interface ReapReport {
  /** Removed, or with `dryRun` to be removed. */
  readonly removed: readonly string[]
  /** In use by a running process. */
  readonly live: readonly string[]
  /**
   * Without a running owner, but not for long enough yet, or beside an earlier one of the same
   * name whose removal is not finished.
   */
  readonly waiting: readonly string[]
  /**
   * Named like a workspace, but not a directory of this user, or with files and no valid marker:
   * never touched.
   */
  readonly foreign: readonly string[]
  readonly failed: readonly { readonly name: string; readonly error: unknown }[]
  /** Ids of removed sets of snapshots of which no workspace was left. */
  readonly snapshots: readonly string[]
}

type Verdict = 'live' | 'waiting' | 'foreign' | 'removed'

/** Loaded by `reapLocalBashTmpdirs`, which says what it does. */
export async function reapTmpdirs(options: ReapOptions): Promise<ReapReport> {
  const root = options.tmpdirRoot ?? tmpdir()
  const report: Record<Verdict, string[]> = { removed: [], live: [], waiting: [], foreign: [] }
  const failed: { name: string; error: unknown }[] = []
  for (const name of namesIn(root)) {
    const path = join(realpathSync(root), name)
    try {
      report[await reapOne(path, name, options)].push(name)
    } catch (error) {
      // Its owner or another reaper was faster: what was wanted.
      if (errnoOf(error) === 'ENOENT' && !exists(path)) continue
      failed.push({ name, error })
      ;(options.logger ?? noopLogger).error({ err: error, name }, 'workspace could not be reaped')
    }
  }
  return { ...report, failed, snapshots: await reapSnapshots(root, options) }
}

async function reapSnapshots(root: string, options: ReapOptions): Promise<readonly string[]> {
  const directory = options.snapshotDirectory ?? snapshotDirectoryIn(root)
  if (!exists(directory) || !exists(root)) return []
  return reapLines({
    tmpdirRoot: root,
    directory,
    clock: options.clock ?? systemClock,
    graceMs: options.graceMs ?? HOUR_MS,
    isDryRun: options.dryRun === true,
  })
}

function namesIn(root: string): string[] {
  try {
    const names = readdirSync(root).filter((name) => NAME.test(name))
    // What an interrupted removal left has the name that the next one needs.
    return names.toSorted((one, other) => Number(isDoomed(other)) - Number(isDoomed(one)))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function isDoomed(name: string): boolean {
  return name.endsWith(REAPED)
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

async function reapOne(path: string, name: string, options: ReapOptions): Promise<Verdict> {
  const verdict = judge(path, options)
  if (verdict !== 'removed' || options.dryRun === true) return verdict
  if (isDoomed(name)) return removeDoomed(path, name)
  const doomed = path + REAPED
  if (exists(doomed)) return 'waiting'
  // From now on no process can attach to it; one that did so in the meantime gets it back.
  renameSync(path, doomed)
  const again = judge(doomed, options)
  if (again === 'removed') return removeDoomed(doomed, name)
  renameSync(doomed, path)
  return again
}

async function removeDoomed(doomed: string, name: string): Promise<Verdict> {
  if (readOwner(doomed) === undefined) {
    removeUnfinished(doomed)
    return 'removed'
  }
  await endProcesses(doomed, workspaceOf(name))
  if (!isOwnDirectory(doomed)) return 'foreign'
  await removeDirectory(doomed)
  return 'removed'
}

/**
 * Ends what a workspace that is being removed left running. Processes are known by the name of
 * their workspace: while another directory has this name, they are of that one.
 */
export async function endProcesses(doomed: string, workspace: string): Promise<readonly number[]> {
  if (exists(join(dirname(doomed), workspace))) return []
  return endTree({ marker: `${workspace}:`, places: [] }, 0)
}

function workspaceOf(name: string): string {
  return isDoomed(name) ? name.slice(0, -REAPED.length) : name
}

function judge(path: string, options: ReapOptions): Verdict {
  if (!isOwnDirectory(path)) return 'foreign'
  const marker = readOwner(path)
  if (marker === undefined) return judgeUnmarked(path, options)
  if (isOwnerAlive(marker)) return 'live'
  return isOver(lastUseMs(path, marker, nowOf(options)), graceOf(marker, options), options)
}

function judgeUnmarked(path: string, options: ReapOptions): Verdict {
  if (!isUnfinished(path)) return 'foreign'
  if (isHeld(path, workspaceOf(basename(path)))) return 'live'
  return isOver(lastChangeMs(path), options.unfinishedGraceMs ?? 24 * HOUR_MS, options)
}

function isOver(sinceMs: number, graceMs: number, options: ReapOptions): 'removed' | 'waiting' {
  return nowOf(options) - sinceMs >= graceMs ? 'removed' : 'waiting'
}

function nowOf({ clock = systemClock }: ReapOptions): number {
  return clock.now()
}

function graceOf(marker: OwnerMarker, options: ReapOptions): number {
  const mayGoOn = marker.process === undefined || isOwnerElsewhere(marker)
  if (mayGoOn) return options.detachedGraceMs ?? 7 * 24 * HOUR_MS
  return options.graceMs ?? HOUR_MS
}

/**
 * When a workspace was used last: every write and every command leaves its time on one of these.
 * A command can set a time that is still to come; there the change time stands in, which only
 * the system sets.
 */
export function lastUseMs(path: string, marker: OwnerMarker, nowMs: number): number {
  const times = ['root', 'scratch', 'scratch/pipes', 'tmp'].map((part) =>
    timeOf(join(path, part), nowMs),
  )
  const sinceMs = marker.sinceMs <= nowMs ? marker.sinceMs : timeOf(join(path, MARKER_NAME), nowMs)
  return Math.max(sinceMs, ...times)
}

function timeOf(path: string, nowMs: number): number {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  // The clock has whole milliseconds, a file has fractions of them.
  const [changedMs, systemMs] = [Math.floor(stats.mtimeMs), Math.floor(stats.ctimeMs)]
  return changedMs <= nowMs ? changedMs : systemMs
}
