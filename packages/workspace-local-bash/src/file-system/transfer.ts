import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  copyFile,
  copyFileSync,
  fstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FileSystemError } from '@helix-agents/core'
import {
  createTimeSlice,
  isWithin,
  joinPath,
  MAX_PATH_BYTES,
  type TimeSlice,
  type TransferOptions,
} from '@helix-agents/core/provider'
import { type Located, openAt } from './path/containment.ts'
import { checkSize, type FileContext, isSmall } from './file-context.ts'
import { specialFile, toFileSystemError } from './map-error.ts'
import { canPin, READ } from './path/open-flags.ts'
import type { PinnedDirectory } from './path/pinned-directory.ts'
import { readSorted } from './tree/read-sorted.ts'
import { removeHostPath } from './tree/remove-tree.ts'
import { unguessableName } from './path/unguessable-name.ts'
import { MAX_LEVELS, walkFiles } from './tree/walk-files.ts'
import type { Place } from './path/walk-path.ts'

const copyLater = promisify(copyFile)

const PERMISSIONS = 0o777
/** Set-user, set-group and sticky: whoever copies a file gives away none of these. */
const SPECIAL_BITS = 0o7000

/** Whether a link in the last place is followed. */
interface Following {
  readonly followLast: boolean
}
const FOLLOW: Following = { followLast: true }
const NO_FOLLOW: Following = { followLast: false }

/** From and to, both normalised. */
export interface Transfer {
  readonly from: string
  readonly to: string
  readonly options: TransferOptions
}

/** Renames a file, a link or a subtree; a link in the way is replaced. */
export async function movePath(context: FileContext, transfer: Transfer): Promise<void> {
  const source = locateSource(context, transfer, NO_FOLLOW)
  try {
    if (source.stats?.isDirectory()) await checkDepth(source, transfer)
    if (isSettled(context, transfer, { source, ...NO_FOLLOW })) return
    putInPlace(context, transfer, { hostPath: source.directory.at(source.name), ...NO_FOLLOW })
  } catch (error) {
    throw toFileSystemError(error, transfer.to)
  } finally {
    source.directory.close()
  }
}

/** Copies aside, then puts the whole copy in place in one step. */
export async function copyPath(context: FileContext, transfer: Transfer): Promise<void> {
  const source = locateSource(context, transfer, FOLLOW)
  const draft = join(context.scratch, unguessableName())
  try {
    if (isSettled(context, transfer, { source, ...FOLLOW })) return
    context.restore()
    const copy = { draft, path: transfer.from, target: transfer.to, level: 1 }
    if (source.stats?.isDirectory()) {
      const slice = createTimeSlice()
      await copyDirectory(context, source.directory.child(source.name), { ...copy, slice })
    } else await copyContent(context, source, copy)
    if (isSettled(context, transfer, { source, ...FOLLOW })) return
    putInPlace(context, transfer, { hostPath: draft, ...FOLLOW })
  } catch (error) {
    throw toFileSystemError(error, transfer.to)
  } finally {
    await removeHostPath(draft)
    source.directory.close()
  }
}

function locateSource(
  context: FileContext,
  { from, to }: Transfer,
  options: { readonly followLast: boolean },
): Located {
  const source = context.containment.locate(from, options)
  try {
    if (source.stats === undefined) throw new FileSystemError('not-found', from)
    if (source.stats.isDirectory() && to !== from && isWithin(to, from)) {
      throw new FileSystemError('invalid-path', to, { detail: 'it lies in what it is made from' })
    }
    return source
  } catch (error) {
    source.directory.close()
    throw error
  }
}

/**
 * Checks that the target may be made or replaced.
 * @returns true when source and target are one, so that nothing is to be done.
 */
function isSettled(
  context: FileContext,
  transfer: Transfer,
  { source, followLast }: Following & { readonly source: Located },
): boolean {
  const target = statTarget(context, transfer.to, followLast)
  if (target === undefined) return false
  if (target.isDirectory()) throw new FileSystemError('is-directory', transfer.to)
  if (transfer.options.overwrite !== true) {
    throw new FileSystemError('already-exists', transfer.to)
  }
  if (!target.isFile() && !target.isSymbolicLink()) throw specialFile(transfer.to)
  const isSameFile = target.ino === source.stats?.ino && target.dev === source.stats.dev
  return isSameFile && (transfer.from === transfer.to || target.nlink === 1n)
}

/** Undefined when nothing is there, or not even its parent. */
function statTarget(
  context: FileContext,
  path: string,
  followLast: boolean,
): BigIntStats | undefined {
  try {
    const target = context.containment.locate(path, { followLast })
    target.directory.close()
    return target.stats
  } catch (error) {
    if (FileSystemError.isInstance(error) && error.code === 'not-found') return undefined
    throw error
  }
}

function putInPlace(
  context: FileContext,
  { to }: Transfer,
  { hostPath, followLast }: Following & { readonly hostPath: string },
): void {
  const target = context.containment.locate(to, { followLast, createParents: true })
  try {
    // As with a write, a copy takes the permissions of the file that it replaces.
    if (followLast && target.stats?.isFile()) {
      chmodSync(hostPath, Number(target.stats.mode) & PERMISSIONS)
    }
    renameSync(hostPath, target.directory.at(target.name))
  } finally {
    target.directory.close()
  }
}

/** Rejects a subtree of which a path would be too long, or nest too deep, where it goes. */
async function checkDepth(source: Located, { from, to }: Transfer): Promise<void> {
  if (Buffer.byteLength(to) <= Buffer.byteLength(from)) return
  let isTooDeep = false
  const visitor = {
    enters: () => !isTooDeep,
    visit: () => !isTooDeep,
    skip: () => void (isTooDeep = true),
  }
  const place = { path: to, signal: undefined }
  await walkFiles(source.directory.child(source.name), visitor, place)
  if (isTooDeep) throw tooDeep(to)
}

function tooDeep(path: string): FileSystemError {
  return new FileSystemError('invalid-path', path, {
    detail: `a path below it would be too long, or nest deeper than ${MAX_LEVELS} directories`,
  })
}

/** Where a copy is made, and the paths of the workspace from which and for which. */
interface Copy {
  readonly draft: string
  readonly path: string
  readonly target: string
  /** Of nesting, from 1. */
  readonly level: number
}

/** Copies an open file: whatever its name leads to by now. */
async function copyContent(context: FileContext, source: Place, copy: Copy): Promise<void> {
  const fd = openAt(source, READ, copy.path)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw specialFile(copy.path)
    checkSize(context, copy.path, stats.size)
    const from = canPin ? `/proc/self/fd/${fd}` : source.directory.at(source.name)
    if (isSmall(stats.size)) copyFileSync(from, copy.draft, COPY_FLAGS)
    else await copyLater(from, copy.draft, COPY_FLAGS)
    // Only then: on a CIFS share it always fails.
    if ((stats.mode & SPECIAL_BITS) !== 0) chmodSync(copy.draft, stats.mode & PERMISSIONS)
  } finally {
    closeSync(fd)
  }
}

/** Shares the blocks of the file where the file system can. */
const COPY_FLAGS = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE

/** Copies a tree; links are made anew, not followed. Closes the directory. */
async function copyDirectory(
  context: FileContext,
  directory: PinnedDirectory,
  copy: Copy & { readonly slice: TimeSlice },
): Promise<void> {
  const { slice } = copy
  try {
    if (copy.level > MAX_LEVELS) throw tooDeep(copy.target)
    mkdirSync(copy.draft)
    for (const child of await readSorted(directory, { slice })) {
      const { name } = child
      const next = nextOf(copy, name)
      if (child.isDirectory())
        await copyDirectory(context, directory.child(name), { ...next, slice })
      else if (child.isSymbolicLink()) symlinkSync(readlinkSync(directory.at(name)), next.draft)
      else await copyContent(context, { directory, name }, next)
      if (slice.due) await slice.pause()
    }
  } finally {
    directory.close()
  }
}

function nextOf(copy: Copy, name: string): Copy {
  const target = joinPath(copy.target, name)
  if (Buffer.byteLength(target) > MAX_PATH_BYTES) throw tooDeep(copy.target)
  const [draft, path] = [join(copy.draft, name), joinPath(copy.path, name)]
  return { draft, path, target, level: copy.level + 1 }
}
