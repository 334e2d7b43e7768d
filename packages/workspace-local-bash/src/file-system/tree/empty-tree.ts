import { type Dirent, opendirSync, renameSync } from 'node:fs'
import { createTimeSlice, type TimeSlice } from '@helix-agents/core/provider'
import { errnoOf } from '../map-error.ts'
import type { PinnedDirectory } from '../path/pinned-directory.ts'
import { removeDirectory, removeFile } from './remove-entry.ts'
import { unguessableName } from '../path/unguessable-name.ts'

/** Ends a race with a process that adds entries as fast as they are removed. */
const MAX_PASSES = 64
/** Entries that the system returns at once. */
const BATCH = 128

/**
 * Removes everything in a directory, however deep it nests, with at most three descriptors and
 * with memory that does not grow with the tree: whatever a subdirectory holds is removed, and the
 * subdirectories that it holds are moved up into `top`, where they are next. Links are removed,
 * never followed. Permissions that forbid it are changed, by descriptor. A mount point is never
 * entered: the system does not allow to remove or to move it.
 *
 * @param keep Name of an entry of `top` that stays.
 * @throws the system's error: `EBUSY` for a mount point, `ENOTEMPTY` when another process keeps adding.
 */
export async function emptyTree(top: PinnedDirectory, keep?: string): Promise<void> {
  const slice = createTimeSlice()
  top.makeAccessible()
  for (let idle = 0; idle < MAX_PASSES;) {
    const { seen, removed } = await pass(top, keep, slice)
    if (seen === 0) return
    idle = removed > 0 ? 0 : idle + 1
  }
  throw Object.assign(new Error('entries are added as fast as they are removed'), {
    code: 'ENOTEMPTY',
  })
}

interface Progress {
  seen: number
  removed: number
}

/** Goes once through `top`: removes its files, and each subdirectory but for what nests in it. */
async function pass(
  top: PinnedDirectory,
  keep: string | undefined,
  slice: TimeSlice,
): Promise<Progress> {
  const progress = { seen: 0, removed: 0 }
  for (const entry of entriesOf(top)) {
    if (entry.name === keep) continue
    progress.seen += 1
    if (await removeEntry(top, entry)) progress.removed += 1
    else progress.removed += await flatten(top, entry.name, slice)
    if (slice.due) await slice.pause()
  }
  return progress
}

/**
 * Removes a subdirectory of `top` whose own subdirectories move up into `top`.
 * @returns how many entries it removed or moved.
 */
async function flatten(top: PinnedDirectory, name: string, slice: TimeSlice): Promise<number> {
  const child = openChild(top, name)
  if (child === undefined) return 0
  let removed = 0
  try {
    child.directory.makeAccessible()
    for (let round = 0; round < MAX_PASSES; round += 1) {
      removed += await moveAllUp(child.directory, top, slice)
      if (await removesEmpty(top.at(child.name))) return removed + 1
    }
    return removed
  } finally {
    child.directory.close()
  }
}

/** @returns how many entries it removed or moved. */
async function moveAllUp(
  from: PinnedDirectory,
  top: PinnedDirectory,
  slice: TimeSlice,
): Promise<number> {
  let removed = 0
  for (const entry of entriesOf(from)) {
    if (!(await removeEntry(from, entry))) await moveUp(from, entry.name, top)
    removed += 1
    if (slice.due) await slice.pause()
  }
  return removed
}

interface Child {
  readonly directory: PinnedDirectory
  readonly name: string
}

/** Undefined when it is gone, or no directory any more: the next pass sees what is there. */
function openChild(top: PinnedDirectory, name: string): Child | undefined {
  try {
    if (isPlain(name)) return { directory: top.child(name), name }
    // Its name may be no valid UTF-8: from here on it has another.
    const plain = unguessableName()
    renameSync(bytePath(top, name), top.at(plain))
    return { directory: top.child(plain), name: plain }
  } catch (error) {
    if (OVERTAKEN.has(errnoOf(error) ?? '')) return undefined
    throw error
  }
}

const OVERTAKEN: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** The system moves a directory only when it may write into it. */
async function moveUp(from: PinnedDirectory, name: string, top: PinnedDirectory): Promise<void> {
  const target = top.at(unguessableName())
  try {
    renameSync(bytePath(from, name), target)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return
    if (errno !== 'EACCES' && errno !== 'EXDEV') throw error
    const child = openChild(from, name)
    if (child === undefined) return
    try {
      child.directory.makeAccessible()
      // What an overlay has from a lower layer cannot be moved: it is emptied where it is.
      if (errno === 'EXDEV') await emptyTree(child.directory)
      else renameSync(from.at(child.name), target)
    } finally {
      child.directory.close()
    }
  }
}

/** @returns false for a directory that holds something. */
async function removeEntry(directory: PinnedDirectory, entry: Dirent): Promise<boolean> {
  const path = bytePath(directory, entry.name)
  if (entry.isDirectory()) return removesEmpty(path)
  try {
    await removeFile(path)
    return true
  } catch (error) {
    const errno = errnoOf(error)
    // Another process removed it: what was wanted.
    if (errno === 'ENOENT') return true
    if (errno === 'EISDIR') return removesEmpty(path)
    throw error
  }
}

/** @returns false when it holds something; a mount point is an error before that. */
async function removesEmpty(path: string | Buffer): Promise<boolean> {
  try {
    await removeDirectory(path)
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return true
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOTDIR') return false
    throw error
  }
}

/** Entries as they come, few at a time; a name is its bytes as Latin-1. */
function* entriesOf(directory: PinnedDirectory): Generator<Dirent> {
  const listing = opendirSync(directory.self, { encoding: 'latin1', bufferSize: BATCH })
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) yield entry
  } finally {
    listing.closeSync()
  }
}

/** Whether a name is the same in Latin-1 and in UTF-8. */
function isPlain(name: string): boolean {
  return /^[\x20-\x7e]+$/.test(name)
}

function bytePath(directory: PinnedDirectory, name: string): string | Buffer {
  if (isPlain(name)) return directory.at(name)
  return Buffer.concat([Buffer.from(directory.at('')), Buffer.from(name, 'latin1')])
}
