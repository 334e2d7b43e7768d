import { readdirSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import { emptyTree } from './empty-tree.ts'
import type { FileContext } from '../file-context.ts'
import { errnoOf, toFileSystemError } from '../map-error.ts'
import { ANCHOR_NO_LINK } from '../path/open-flags.ts'
import { PinnedDirectory } from '../path/pinned-directory.ts'
import { removeDirectory, removeFile } from './remove-entry.ts'
import type { Place } from '../path/walk-path.ts'

/** Removes a file, a link, or a directory; links are removed, never followed. */
export async function removePath(
  context: FileContext,
  path: string,
  isRecursive: boolean,
): Promise<void> {
  if (path === '/') return emptyRoot(context, isRecursive)
  const located = context.containment.locate(path, { followLast: false })
  try {
    if (located.stats === undefined) throw new FileSystemError('not-found', path)
    if (!located.stats.isDirectory()) await removeFile(located.directory.at(located.name))
    else if (isRecursive) await removeTree(located)
    else await removeDirectory(located.directory.at(located.name))
  } catch (error) {
    throw toFileSystemError(error, path)
  } finally {
    located.directory.close()
  }
}

async function emptyRoot(context: FileContext, isRecursive: boolean): Promise<void> {
  const root = context.containment.openRoot()
  try {
    if (isRecursive) await emptyTree(root)
    else if (readdirSync(root.self).length > 0) throw new FileSystemError('not-empty', '/')
  } catch (error) {
    throw toFileSystemError(error, '/')
  } finally {
    root.close()
  }
}

/** Removes a whole subtree. @throws the system's error. */
async function removeTree(place: Place): Promise<void> {
  const path = place.directory.at(place.name)
  // A mount point is rejected here, before anything in it is touched.
  if (await removesEmpty(path)) return
  const directory = place.directory.child(place.name)
  try {
    await emptyTree(directory)
  } finally {
    directory.close()
  }
  await removesEmpty(path, 'throw')
}

/**
 * Removes a file, a link or a whole tree of the host; what is gone is fine.
 * @param last Name of the entry of the directory that goes last.
 * @throws the system's error.
 */
export async function removeHostPath(path: string, last?: string): Promise<void> {
  const directory = await openOrUnlink(path)
  if (directory === undefined) return
  try {
    if (last !== undefined) await emptyTree(directory, last)
    await emptyTree(directory)
  } finally {
    directory.close()
  }
  await removesEmpty(path, 'throw')
}

/** Undefined when nothing is left to be done. */
async function openOrUnlink(path: string): Promise<PinnedDirectory | undefined> {
  try {
    if (await removesEmpty(path)) return undefined
    return PinnedDirectory.open(path, ANCHOR_NO_LINK)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    if (errnoOf(error) !== 'ENOTDIR') throw error
    await removeFile(path)
    return undefined
  }
}

/** Whether a directory was empty, or gone, and is removed. */
async function removesEmpty(
  path: string,
  whenFull: 'return' | 'throw' = 'return',
): Promise<boolean> {
  try {
    await removeDirectory(path)
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return true
    if (whenFull === 'return' && (errno === 'ENOTEMPTY' || errno === 'EEXIST')) return false
    throw error
  }
}
