import {
  appendFileSync,
  type BigIntStats,
  closeSync,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFile,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FileSystemError } from '@helix-agents/core'
import type { FileStat, WriteOptions } from '@helix-agents/core/provider'
import type { Located } from './path/containment.ts'
import { checkSize, type FileContext, isSmall } from './file-context.ts'
import { errnoOf, isMissing, specialFile, toFileSystemError } from './map-error.ts'
import { APPEND, CREATE } from './path/open-flags.ts'
import { unguessableName } from './path/unguessable-name.ts'
import { versionOf } from './version.ts'

/** All of it, behind what was written before. */
const writeLater = promisify(writeFile) as (fd: number, bytes: Uint8Array) => Promise<void>
const PERMISSIONS = 0o777n

/** A file in scratch that is not yet part of the workspace. */
interface Draft {
  readonly fd: number
  readonly hostPath: string
}

/** Creates or replaces a file in one step: readers see the old or the new content. */
export async function writeWhole(
  context: FileContext,
  path: string,
  data: { readonly bytes: Uint8Array; readonly options: WriteOptions },
): Promise<FileStat> {
  const { bytes, options } = data
  checkSize(context, path, bytes.length)
  if (!isSmall(bytes.length)) checkTarget(context, path, options)
  return withDraft(context, path, async (draft) => {
    // The small case runs without a pause, so check and rename cannot be overtaken in this
    // process; the large one writes aside first and commits without a pause.
    if (isSmall(bytes.length)) writeNow(draft.fd, bytes)
    else await writeLater(draft.fd, bytes)
    return commit(context, path, { draft, options })
  })
}

/** Stores a stream; nothing of it is visible before its end. */
export async function writeStreamed(
  context: FileContext,
  path: string,
  data: { readonly source: ReadableStream<Uint8Array>; readonly options: WriteOptions },
): Promise<FileStat> {
  try {
    checkTarget(context, path, data.options)
  } catch (error) {
    await data.source.cancel(error)
    throw error
  }
  return withDraft(context, path, async (draft) => {
    let length = 0
    for await (const piece of data.source) {
      length += piece.length
      checkSize(context, path, length)
      if (isSmall(piece.length)) writeNow(draft.fd, piece)
      else await writeLater(draft.fd, piece)
    }
    return commit(context, path, { draft, options: data.options })
  })
}

/** Adds to the end, in one system call, so that appends never tear each other. */
export function append(context: FileContext, path: string, bytes: Uint8Array): FileStat {
  checkSize(context, path, bytes.length)
  const target = locateTarget(context, path)
  try {
    if (target.stats === undefined) return createBy(context, path, { target, bytes })
    const fd = openSync(target.directory.at(target.name), APPEND)
    try {
      const before = fstatSync(fd)
      if (!before.isFile()) throw specialFile(path)
      checkSize(context, path, before.size + bytes.length)
      appendFileSync(fd, bytes)
      context.versions.stamp(fd)
      const stats = fstatSync(fd, { bigint: true })
      return context.versions.ownStat(path, stats, stats)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    // Another process made or removed the file after the check.
    const isOvertaken = errnoOf(error) === (target.stats === undefined ? 'EEXIST' : 'ENOENT')
    if (isOvertaken) return append(context, path, bytes)
    throw toFileSystemError(error, path)
  } finally {
    target.directory.close()
  }
}

function createBy(
  context: FileContext,
  path: string,
  what: { readonly target: Located; readonly bytes: Uint8Array },
): FileStat {
  const draft = createDraft(context)
  try {
    writeNow(draft.fd, what.bytes)
    return place(context, path, { draft, target: what.target, ifAbsent: true })
  } catch (error) {
    rmSync(draft.hostPath, { force: true })
    throw error
  } finally {
    closeSync(draft.fd)
  }
}

/** Puts a file that was made aside (an output, a copy) at a path of the workspace. */
export function adoptFile(
  context: FileContext,
  path: string,
  source: { readonly hostPath: string; readonly options: WriteOptions },
): void {
  const target = checkTarget(context, path, source.options, true)
  try {
    moveInto(target, source.hostPath, source.options.ifAbsent === true)
  } catch (error) {
    throw toFileSystemError(error, path)
  } finally {
    target.directory.close()
  }
}

async function withDraft(
  context: FileContext,
  path: string,
  run: (draft: Draft) => Promise<FileStat>,
): Promise<FileStat> {
  let draft: Draft | undefined
  try {
    draft = createDraft(context)
    return await run(draft)
  } catch (error) {
    if (draft !== undefined) rmSync(draft.hostPath, { force: true })
    throw toFileSystemError(error, path)
  } finally {
    if (draft !== undefined) closeSync(draft.fd)
  }
}

function createDraft(context: FileContext): Draft {
  const hostPath = join(context.scratch, unguessableName())
  try {
    return { fd: openSync(hostPath, CREATE, 0o666), hostPath }
  } catch (error) {
    if (!isMissing(error)) throw error
    // A command removed more than its workspace.
    context.restore()
    return { fd: openSync(hostPath, CREATE, 0o666), hostPath }
  }
}

function commit(
  context: FileContext,
  path: string,
  what: { readonly draft: Draft; readonly options: WriteOptions },
): FileStat {
  const target = checkTarget(context, path, what.options, true)
  try {
    const ifAbsent = what.options.ifAbsent === true
    return place(context, path, { draft: what.draft, target, ifAbsent })
  } finally {
    target.directory.close()
  }
}

/** Gives a draft its permissions, its time and its name. */
function place(
  context: FileContext,
  path: string,
  what: { readonly draft: Draft; readonly target: Located; readonly ifAbsent: boolean },
): FileStat {
  const { draft, target } = what
  keepPermissions(draft.fd, target.stats)
  context.versions.stamp(draft.fd)
  const written = fstatSync(draft.fd, { bigint: true })
  moveInto(target, draft.hostPath, what.ifAbsent)
  const now = fstatSync(draft.fd, { bigint: true })
  context.proven.add(now)
  return context.versions.ownStat(path, written, now)
}

function moveInto(target: Located, hostPath: string, ifAbsent: boolean): void {
  const goal = target.directory.at(target.name)
  if (!ifAbsent) return renameSync(hostPath, goal)
  // A link, unlike a rename, never replaces what is there.
  linkSync(hostPath, goal)
  unlinkSync(hostPath)
}

function keepPermissions(fd: number, replaced: BigIntStats | undefined): void {
  if (replaced === undefined) return
  const wanted = replaced.mode & PERMISSIONS
  if ((fstatSync(fd, { bigint: true }).mode & PERMISSIONS) !== wanted)
    fchmodSync(fd, Number(wanted))
}

function checkTarget(context: FileContext, path: string, options: WriteOptions): void
function checkTarget(
  context: FileContext,
  path: string,
  options: WriteOptions,
  keepOpen: true,
): Located
/** Finds the target and checks the conditions of the write; makes parents only when it passes. */
function checkTarget(
  context: FileContext,
  path: string,
  options: WriteOptions,
  keepOpen?: true,
): Located | void {
  const found = tryLocate(context, path)
  try {
    checkConditions(found?.stats, path, options)
  } catch (error) {
    found?.directory.close()
    throw error
  }
  if (keepOpen) return found ?? locateTarget(context, path)
  found?.directory.close()
}

function checkConditions(
  stats: BigIntStats | undefined,
  path: string,
  options: WriteOptions,
): void {
  if (stats?.isDirectory()) throw new FileSystemError('is-directory', path)
  if (stats?.isFile() === false) throw specialFile(path)
  if (stats !== undefined && options.ifAbsent) throw new FileSystemError('already-exists', path)
  if (options.ifVersion !== undefined) checkVersion(stats, path, options.ifVersion)
}

function checkVersion(stats: BigIntStats | undefined, path: string, wanted: string): void {
  const current = stats === undefined ? undefined : versionOf(stats)
  if (current === wanted) return
  const detail = current === undefined ? 'it was removed' : `its version is now ${current}`
  throw new FileSystemError('stale-write', path, { detail })
}

/** Undefined when a parent is missing. */
function tryLocate(context: FileContext, path: string): Located | undefined {
  try {
    return context.containment.locate(path, { followLast: true })
  } catch (error) {
    if (FileSystemError.isInstance(error) && error.code === 'not-found') return undefined
    throw error
  }
}

function locateTarget(context: FileContext, path: string): Located {
  const target = context.containment.locate(path, { followLast: true, createParents: true })
  if (target.stats === undefined || target.stats.isFile()) return target
  target.directory.close()
  throw target.stats.isDirectory() ? new FileSystemError('is-directory', path) : specialFile(path)
}

function writeNow(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) offset += writeSync(fd, bytes, offset)
}
