import { type BigIntStats, closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import { openAt } from './path/containment.ts'
import type { FileContext } from './file-context.ts'
import { specialFile, toFileSystemError } from './map-error.ts'
import { canPin, HANDLE, READ, READ_HANDLE } from './path/open-flags.ts'

/** An open file of the workspace, and its state. */
export interface OpenFile {
  readonly fd: number
  readonly stats: BigIntStats
}

/**
 * Opens a regular file that lies in the workspace, whatever happens to its path.
 * @throws {FileSystemError} `not-found`, `is-directory`, `path-escape`, `permission-denied`.
 */
export function openFile(context: FileContext, path: string): OpenFile {
  return openDirectly(context, path) ?? openByWalking(context, path)
}

/**
 * Lets the system find the file, then asks where what it found lies. Until that is known it is
 * only a handle: nothing was opened, neither a pipe nor a device that a link outside led to.
 */
function openDirectly(context: FileContext, path: string): OpenFile | undefined {
  if (!canPin) return undefined
  const handle = tryOpen(context.containment.hostPath(path))
  if (handle === undefined) return undefined
  try {
    const stats = fstatSync(handle, { bigint: true })
    if (!stats.isFile() || !isInside(context, path, { fd: handle, stats })) return undefined
    return { fd: openSync(`/proc/self/fd/${handle}`, READ_HANDLE), stats }
  } catch (error) {
    throw toFileSystemError(error, path)
  } finally {
    closeSync(handle)
  }
}

function openByWalking(context: FileContext, path: string): OpenFile {
  const located = context.containment.locate(path, { followLast: true })
  try {
    if (located.stats?.isDirectory()) throw new FileSystemError('is-directory', path)
    if (located.stats?.isFile() === false) throw specialFile(path)
    const fd = openAt(located, READ, path)
    const stats = fstatSync(fd, { bigint: true })
    if (stats.isFile()) return { fd, stats }
    closeSync(fd)
    throw specialFile(path)
  } finally {
    located.directory.close()
  }
}

/**
 * State of what a path names, links followed.
 * @throws {FileSystemError} `not-found`, `path-escape`.
 */
export function statPath(context: FileContext, path: string): BigIntStats {
  const direct = statDirectly(context, path)
  if (direct !== undefined) return direct
  const located = context.containment.locate(path, { followLast: true })
  located.directory.close()
  if (located.stats === undefined) throw new FileSystemError('not-found', path)
  return located.stats
}

/** Only for what was proven to lie in the workspace before. */
function statDirectly(context: FileContext, path: string): BigIntStats | undefined {
  try {
    const hostPath = context.containment.hostPath(path)
    const stats = statSync(hostPath, { bigint: true, throwIfNoEntry: false })
    return stats !== undefined && context.proven.has(stats) ? stats : undefined
  } catch {
    return undefined
  }
}

function isInside(context: FileContext, path: string, { fd, stats }: OpenFile): boolean {
  if (context.proven.has(stats)) return true
  if (!context.containment.holds(fd, path)) return false
  context.proven.add(stats)
  return true
}

function tryOpen(hostPath: string): number | undefined {
  try {
    return openSync(hostPath, HANDLE)
  } catch {
    return undefined
  }
}
