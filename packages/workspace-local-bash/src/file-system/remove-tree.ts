import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { createTimeSlice, FileSystemError, type TimeSlice } from '@helix-agents/core'
import type { Place } from './walk-path.ts'
import type { FileContext } from './file-context.ts'
import { errnoOf, toFileSystemError } from './map-error.ts'
import type { PinnedDirectory } from './pinned-directory.ts'

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
    if (!located.stats.isDirectory()) unlinkSync(located.directory.at(located.name))
    else if (isRecursive) await removeTree(located, createTimeSlice())
    else rmdirSync(located.directory.at(located.name))
  } catch (error) {
    throw toFileSystemError(error, path)
  } finally {
    located.directory.close()
  }
}

async function emptyRoot(context: FileContext, isRecursive: boolean): Promise<void> {
  const root = context.containment.openRoot()
  try {
    if (isRecursive) await emptyDirectory(root, createTimeSlice())
    else if (readdirSync(root.self).length > 0) throw new FileSystemError('not-empty', '/')
  } finally {
    root.close()
  }
}

/** Removes a whole subtree, each directory held open while its children go. */
export async function removeTree(place: Place, slice: TimeSlice): Promise<void> {
  const directory = place.directory.child(place.name)
  try {
    await emptyDirectory(directory, slice)
  } finally {
    directory.close()
  }
  rmdirSync(place.directory.at(place.name))
}

async function emptyDirectory(directory: PinnedDirectory, slice: TimeSlice): Promise<void> {
  for (const name of readdirSync(directory.self)) {
    await removeChild({ directory, name }, slice)
    if (slice.due) await slice.pause()
  }
}

async function removeChild(place: Place, slice: TimeSlice): Promise<void> {
  const path = place.directory.at(place.name)
  try {
    if (lstatSync(path).isDirectory()) await removeTree(place, slice)
    else unlinkSync(path)
  } catch (error) {
    // Somebody else removed it: what was wanted.
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
