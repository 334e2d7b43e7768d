import type { BigIntStats } from 'node:fs'
import { closeSync, fstatSync, futimesSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { FileStat, FileType } from '@helix-agents/core/provider'
import { CREATE } from './path/open-flags.ts'
import { unguessableName } from './path/unguessable-name.ts'

/** Longer than a clock tick of any kernel (10 ms at 100 Hz). */
const TICK_MS = 25
const PROBE_WRITES = 16
const OWN_VERSIONS = 256

/** What identifies the content of a file: each change gives another version. */
export function versionOf(stats: BigIntStats): string {
  return token(stats, stats.mtimeNs)
}

function token(stats: Pick<BigIntStats, 'ino' | 'size' | 'ctimeNs'>, mtimeNs: bigint): string {
  const parts = [stats.ino, stats.size, mtimeNs, stats.ctimeNs]
  return parts.map((part) => part.toString(36)).join('-')
}

/**
 * Times and versions of one workspace.
 *
 * A version is made of inode, size and times. Two changes within one tick of the kernel's clock
 * could share all of these, so (1) the workspace's own writes get times that no other write of
 * it has, and (2) where the file system has coarse times, a version is given out only once the
 * tick of the last foreign change is over: whatever changes the file later has a later time.
 */
export class Versions {
  readonly #isFine: boolean
  readonly #own = new Set<string>()
  #lastMicros = 0

  /** @param scratch Directory on the file system of the workspace. */
  constructor(scratch: string, isFine = hasFineTimes(scratch)) {
    this.#isFine = isFine
  }

  /** Times of changes are exact, so inode and change time together name one content. */
  get isFine(): boolean {
    return this.#isFine
  }

  /** Gives an open file a time of its own. */
  stamp(fd: number): void {
    const nowMicros = Date.now() * 1000
    this.#lastMicros = Math.max(this.#lastMicros + 1, nowMicros)
    // The system cuts to whole microseconds; the half keeps rounding from cutting one off.
    const seconds = (this.#lastMicros + 0.5) / 1_000_000
    futimesSync(fd, seconds, seconds)
  }

  /**
   * The state of a file after an own change. When another process changed it since `written` was
   * read, the version is one that no longer matches the file.
   */
  ownStat(path: string, written: BigIntStats, now: BigIntStats): FileStat {
    const { ino, size } = written
    const version = token({ ino, size, ctimeNs: now.ctimeNs }, written.mtimeNs)
    this.#remember(version)
    return { path, type: 'file', size: Number(written.size), mtime: written.mtime, version }
  }

  /** How long to wait before the version of a file is safe to give out, in milliseconds. */
  unsafeForMs(stats: BigIntStats, nowMs: number): number {
    if (this.#isFine || !stats.isFile()) return 0
    const ageMs = nowMs - Number(stats.ctimeMs)
    if (ageMs < 0 || ageMs >= TICK_MS || this.#own.has(versionOf(stats))) return 0
    return TICK_MS - ageMs
  }

  #remember(version: string): void {
    if (this.#isFine) return
    this.#own.add(version)
    const [oldest] = this.#own
    if (this.#own.size > OWN_VERSIONS && oldest !== undefined) this.#own.delete(oldest)
  }
}

/** The state of a file, directory or link as the contract has it. */
export function toFileStat(path: string, stats: BigIntStats): FileStat {
  const isDirectory = stats.isDirectory()
  return {
    path,
    type: typeOf(stats),
    size: isDirectory ? 0 : Number(stats.size),
    mtime: stats.mtime,
    version: versionOf(stats),
  }
}

function typeOf(stats: BigIntStats): FileType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

/** Whether quick changes of one file get different times; newer kernels on most file systems. */
function hasFineTimes(directory: string): boolean {
  const path = join(directory, unguessableName())
  const fd = openSync(path, CREATE, 0o600)
  try {
    const times = new Set<bigint>()
    for (let write = 0; write < PROBE_WRITES; write += 1) {
      writeSync(fd, 'x', 0)
      times.add(fstatSync(fd, { bigint: true }).ctimeNs)
    }
    return times.size === PROBE_WRITES
  } finally {
    closeSync(fd)
    unlinkSync(path)
  }
}
