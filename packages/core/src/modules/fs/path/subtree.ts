import type { FileEntry, FileSystem } from '../contract.ts'
import { createTimeSlice } from '../../../time/slice.ts'
import { FileSystemError } from '../../../errors/file-system-error.ts'
import { utf8Length } from '../text/bytes.ts'
import { checkSubtreeFits, fitsPathLimits, normalizePath, pathDepth } from './path.ts'

/** A path of a subtree; the size is 0 for what is not a file. */
export interface SubtreeEntry {
  readonly path: string
  readonly type: FileEntry['type']
  readonly size: number
}

/**
 * The path itself and all below it. Links are listed, not followed.
 * @throws {FileSystemError} `invalid-path` when something is nested past the limits of paths.
 */
export async function* filesBelow(
  fs: Pick<FileSystem, 'stat' | 'ls'>,
  path: string,
): AsyncGenerator<SubtreeEntry> {
  const root = await fs.stat(normalizePath(path))
  yield root
  const open = root.type === 'directory' ? [root.path] : []
  // A file system may answer without any turn of the event loop.
  const slice = createTimeSlice()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (slice.due) await slice.pause()
    for (const entry of await fs.ls(next)) {
      yield { path: entry.path, type: entry.type, size: entry.size ?? 0 }
      if (entry.type !== 'directory') continue
      if (!fitsPathLimits(entry.path)) throw tooDeep(root.path)
      open.push(entry.path)
    }
  }
}

function tooDeep(path: string): FileSystemError {
  return new FileSystemError('invalid-path', path, {
    detail: 'what lies below it is nested past the limits of paths',
  })
}

/**
 * Rejects a copy or a move that would nest what is below the source past the limits of paths. For
 * providers that do not know the extent of a directory: it is walked, where the target is deeper or
 * longer than the source.
 *
 * @param source normalised, as is the target.
 * @throws {FileSystemError} `invalid-path`.
 */
export async function checkTransferFits(
  fs: Pick<FileSystem, 'stat' | 'ls'>,
  source: string,
  target: string,
): Promise<void> {
  const isDeeper = pathDepth(target) > pathDepth(source)
  if (!isDeeper && utf8Length(target) <= utf8Length(source)) return
  if (!(await isDirectory(fs, source))) return
  let [depth, bytes] = [0, 0]
  for await (const entry of filesBelow(fs, source)) {
    if (entry.path === source) continue
    const rest = entry.path.slice(source === '/' ? 0 : source.length)
    depth = Math.max(depth, pathDepth(rest))
    bytes = Math.max(bytes, utf8Length(rest))
  }
  checkSubtreeFits(target, { depth, bytes })
}

/** What is missing, or a link that leads nowhere, is for the provider to judge. */
async function isDirectory(fs: Pick<FileSystem, 'stat'>, path: string): Promise<boolean> {
  try {
    return (await fs.stat(path)).type === 'directory'
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}
