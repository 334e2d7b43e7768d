import {
  type BigIntStats,
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
import {
  createTimeSlice,
  FileSystemError,
  isWithin,
  joinPath,
  type TimeSlice,
  type TransferOptions,
} from '@helix-agents/core'
import { type Located, openAt } from './containment.ts'
import { checkSize, type FileContext, SYNC_BYTES } from './file-context.ts'
import { specialFile, toFileSystemError } from './map-error.ts'
import { canPin, READ } from './open-flags.ts'
import type { PinnedDirectory } from './pinned-directory.ts'
import { readSorted } from './read-sorted.ts'
import { removeHostPath } from './remove-tree.ts'
import { unguessableName } from './unguessable-name.ts'
import type { Place } from './walk-path.ts'

const copyLater = promisify(copyFile)

/** From and to, both normalised. */
export interface Transfer {
  readonly from: string
  readonly to: string
  readonly options: TransferOptions
}

/** Renames a file, a link or a subtree. */
export function movePath(context: FileContext, transfer: Transfer): void {
  const source = locateSource(context, transfer, { followLast: false })
  try {
    if (isSettled(context, transfer, source)) return
    putInPlace(context, transfer, source.directory.at(source.name))
  } catch (error) {
    throw toFileSystemError(error, transfer.to)
  } finally {
    source.directory.close()
  }
}

/** Copies aside, then puts the whole copy in place in one step. */
export async function copyPath(context: FileContext, transfer: Transfer): Promise<void> {
  const source = locateSource(context, transfer, { followLast: true })
  const draft = join(context.scratch, unguessableName())
  try {
    if (isSettled(context, transfer, source)) return
    context.restore()
    if (source.stats?.isDirectory()) {
      await copyDirectory(context, source.directory.child(source.name), {
        draft,
        path: transfer.from,
        slice: createTimeSlice(),
      })
    } else await copyContent(context, source, { draft, path: transfer.from })
    if (isSettled(context, transfer, source)) return
    putInPlace(context, transfer, draft)
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
function isSettled(context: FileContext, transfer: Transfer, source: Located): boolean {
  const target = statTarget(context, transfer.to)
  if (target === undefined) return false
  if (target.isDirectory()) throw new FileSystemError('is-directory', transfer.to)
  if (transfer.options.overwrite !== true) {
    throw new FileSystemError('already-exists', transfer.to)
  }
  const isSameFile = target.ino === source.stats?.ino && target.dev === source.stats.dev
  return isSameFile && (transfer.from === transfer.to || target.nlink === 1n)
}

/** Undefined when nothing is there, or not even its parent. */
function statTarget(context: FileContext, path: string): BigIntStats | undefined {
  try {
    const target = context.containment.locate(path, { followLast: false })
    target.directory.close()
    return target.stats
  } catch (error) {
    if (FileSystemError.isInstance(error) && error.code === 'not-found') return undefined
    throw error
  }
}

function putInPlace(context: FileContext, { to }: Transfer, hostPath: string): void {
  const target = context.containment.locate(to, { followLast: false, createParents: true })
  try {
    renameSync(hostPath, target.directory.at(target.name))
  } finally {
    target.directory.close()
  }
}

/** Where a copy is made, and the path of the workspace that it is made from. */
interface Copy {
  readonly draft: string
  readonly path: string
}

/** Copies an open file: whatever its name leads to meanwhile. */
async function copyContent(context: FileContext, source: Place, copy: Copy): Promise<void> {
  const fd = openAt(source, READ, copy.path)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw specialFile(copy.path)
    checkSize(context, copy.path, stats.size)
    const from = canPin ? `/proc/self/fd/${fd}` : source.directory.at(source.name)
    if (stats.size <= SYNC_BYTES) copyFileSync(from, copy.draft, COPY_FLAGS)
    else await copyLater(from, copy.draft, COPY_FLAGS)
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
    mkdirSync(copy.draft)
    for (const child of await readSorted(directory, slice)) {
      const { name } = child
      const next = { slice, draft: join(copy.draft, name), path: joinPath(copy.path, name) }
      if (child.isDirectory()) await copyDirectory(context, directory.child(name), next)
      else if (child.isSymbolicLink()) symlinkSync(readlinkSync(directory.at(name)), next.draft)
      else await copyContent(context, { directory, name }, next)
      if (slice.due) await slice.pause()
    }
  } finally {
    directory.close()
  }
}
