import { type BigIntStats, closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import { openAt } from './containment.ts'
import type { FileContext } from './file-context.ts'
import { errnoOf, specialFile } from './map-error.ts'
import { canPin, READ } from './open-flags.ts'

/** An open file of the workspace, and its state. */
export interface OpenFile {
  readonly fd: number
  readonly stats: BigIntStats
}

/**
 * Opens a regular file that lies in the workspace, whatever is done to its path meanwhile.
 * @throws {FileSystemError} `not-found`, `is-directory`, `path-escape`, `permission-denied`.
 */
export function openFile(context: FileContext, path: string): OpenFile {
  return openDirectly(context, path) ?? openByWalking(context, path)
}

/** Lets the system find the file, then asks where the file it opened lies. */
function openDirectly(context: FileContext, path: string): OpenFile | undefined {
  if (!canPin) return undefined
  const fd = tryOpen(context.containment.hostPath(path))
  if (fd === undefined) return undefined
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (stats.isFile() && isInside(context, path, { fd, stats })) return { fd, stats }
  } catch (error) {
    closeSync(fd)
    throw error
  }
  closeSync(fd)
  return undefined
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
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
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
    return openSync(hostPath, READ)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}
