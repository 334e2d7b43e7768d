import { FileSystemError } from '../errors/file-system-error.ts'
import { compareCodePoints, normalizePath, parentPath } from '../modules/fs/path/path.ts'
import { createTimeSlice } from '../time/slice.ts'
import type { SnapshotEntry } from './manifest.ts'

/** What a walk through the entries found. */
export interface CheckedTree {
  /** Bytes of all files together. */
  readonly bytes: number
  /** The first entry that cannot be restored as it stands, and why. */
  readonly problem?: string
}

/**
 * Checks that the entries are a tree: sorted, each path in its one spelling and once, each parent a
 * directory before it, no link that leads out of the root.
 */
export async function checkTree(entries: readonly SnapshotEntry[]): Promise<CheckedTree> {
  const slice = createTimeSlice()
  const directories = new Set(['/'])
  let bytes = 0
  let before = '/'
  for (const entry of entries) {
    if (slice.due) await slice.pause()
    const problem = problemOf(entry, before, directories)
    if (problem !== undefined) return { bytes, problem: `${showPath(entry.path)} ${problem}` }
    if (entry.type === 'directory') directories.add(entry.path)
    if (entry.type === 'file') bytes += entry.size
    before = entry.path
  }
  return { bytes }
}

function problemOf(
  entry: SnapshotEntry,
  before: string,
  directories: ReadonlySet<string>,
): string | undefined {
  if (!isNormal(entry.path)) return 'is not a normalised path of a workspace'
  if (compareCodePoints(before, entry.path) >= 0) return 'is not sorted, or there twice'
  if (!directories.has(parentPath(entry.path))) return 'has no directory above it'
  if (entry.type === 'symlink' && !isInnerTarget(entry.path, entry.target)) {
    return 'is a link that may lead out of the root'
  }
  return undefined
}

function isNormal(path: string): boolean {
  try {
    return path.startsWith('/') && path !== '/' && normalizePath(path) === path
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}

/**
 * Whether a target stays below the root wherever the links on its way lead: it is relative, climbs
 * only in front, where every step is a directory, and not past the root.
 */
export function isInnerTarget(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false
  const names = target.split('/')
  const climbs = names.findIndex((name) => name !== '..')
  const inner = climbs < 0 ? [] : names.slice(climbs)
  const isPlain = inner.every((name) => name !== '' && name !== '..' && name !== '.')
  const depth = path.split('/').length - 2
  return (isPlain || target === '.') && (climbs < 0 ? names.length : climbs) <= depth
}

/** Control characters become visible, and a hostile path does not flood the message. */
function showPath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
}
