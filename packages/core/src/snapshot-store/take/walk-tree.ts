import ignore from 'ignore'
import { FileSystemError } from '../../errors/file-system-error.ts'
import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import type { FileEntry, FileSystem } from '../../modules/fs/contract.ts'
import { fitsPathLimits, normalizePath } from '../../modules/fs/path/path.ts'
import { sortByCodePoint } from '../../modules/fs/path/sort-paths.ts'
import { inParallel } from '../in-parallel.ts'
import type { SnapshotLoss } from '../loss.ts'

/** What is walked, and what is left out. */
export interface TreeWalkOptions {
  /** In the syntax of `.gitignore`, relative to the root. */
  readonly ignore: readonly string[]
  readonly maxEntries: number
  readonly signal?: AbortSignal
}

/** Every path of a workspace, sorted, and those that no snapshot can hold. */
export interface WalkedTree {
  readonly nodes: readonly FileEntry[]
  readonly losses: readonly SnapshotLoss[]
}

/**
 * Lists a workspace; directories that are ignored are not entered, links never are.
 * @throws {SnapshotStoreError} `too-large`
 */
export async function walkTree(fs: FileSystem, options: TreeWalkOptions): Promise<WalkedTree> {
  const ignored = ignore({ ignorecase: false, allowRelativePaths: true }).add([...options.ignore])
  const isIgnored = ({ path, type }: FileEntry): boolean =>
    ignored.ignores(`${path.slice(1)}${type === 'directory' ? '/' : ''}`)
  const nodes: FileEntry[] = []
  const losses: SnapshotLoss[] = []
  let level: string[] = ['/']
  const list = async (directory: string, below: string[]): Promise<void> => {
    for (const entry of await listDirectory(fs, directory, losses)) {
      const kind = isHoldable(entry.path) ? undefined : 'path'
      const loss = kind ?? (entry.type === 'other' ? 'special-file' : undefined)
      if (kind === undefined && isIgnored(entry)) continue
      if (loss !== undefined) {
        losses.push({ path: entry.path, kind: loss })
        continue
      }
      nodes.push(entry)
      if (entry.type === 'directory') below.push(entry.path)
    }
    if (nodes.length > options.maxEntries) throw tooMany('entries', options.maxEntries)
  }
  while (level.length > 0) {
    const below: string[] = []
    await inParallel(level, (directory) => list(directory, below), options)
    level = below
  }
  return { nodes: await sortByCodePoint(nodes, ({ path }) => path, options.signal), losses }
}

/** A directory that was removed meanwhile is empty. */
async function listDirectory(
  fs: FileSystem,
  path: string,
  losses: SnapshotLoss[],
): Promise<readonly FileEntry[]> {
  try {
    return await fs.ls(path)
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    if (error.code === 'permission-denied') losses.push({ path, kind: 'unreadable' })
    else if (!isGone(error)) throw error
    return []
  }
}

/** Whether a path is not there any more, or something else is. */
export function isGone(error: unknown): boolean {
  return (
    FileSystemError.isInstance(error) &&
    ['not-found', 'not-directory', 'is-directory', 'path-escape'].includes(error.code)
  )
}

function isHoldable(path: string): boolean {
  try {
    return fitsPathLimits(path) && normalizePath(path) === path
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}

/** The workspace has more of something than a snapshot may. */
export function tooMany(what: string, limit: number): SnapshotStoreError {
  return new SnapshotStoreError('too-large', `the workspace has more than ${limit} ${what}`, {
    hint: 'Leave out directories that can be made again, such as node_modules/.',
  })
}
