import type { Dirent } from 'node:fs'
import {
  createTimeSlice,
  joinPath,
  MAX_PATH_BYTES,
  MAX_PATH_DEPTH,
  pathDepth,
  type TimeSlice,
} from '@helix-agents/core/provider'
import { errnoOf } from '../map-error.ts'
import type { PinnedDirectory } from '../path/pinned-directory.ts'
import { readSorted } from './read-sorted.ts'

/** Most directories of a path, one for each level. */
export const MAX_LEVELS = MAX_PATH_DEPTH

/** A file or link met on a walk; valid during the visit. */
export interface FoundFile {
  readonly directory: PinnedDirectory
  readonly name: string
  /** Relative to the start of the walk. */
  readonly relativePath: string
  readonly kind: 'file' | 'link'
}

export interface FileVisitor {
  /** Whether to enter a directory, given relative to the start. */
  enters(relativeDirectory: string): boolean
  /** False ends the walk. What takes long returns a promise of it. */
  visit(file: FoundFile): boolean | Promise<boolean>
  /** Called once for a directory that holds what nests too deep, or what no path can name. */
  skip?(relativeDirectory: string): void
}

interface Frame {
  readonly directory: PinnedDirectory
  readonly relativePath: string
  /** Bytes that are left for a name in it. */
  readonly roomBytes: number
  readonly children: readonly Dirent[]
  next: number
  hasSkipped: boolean
}

/**
 * Visits all files below a directory in the order of their paths, in slices of time. Directories
 * are opened by name in the open one above: no link, whenever it was made, leads the walk away.
 * The start is closed at the end.
 *
 * @param place `path` is that of the start, in the workspace.
 */
export async function walkFiles(
  start: PinnedDirectory,
  visitor: FileVisitor,
  place: { readonly path: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { path, signal } = place
  const maxLevels = MAX_LEVELS - pathDepth(path)
  const walk: Walk = { frames: [], maxLevels, visitor, slice: createTimeSlice(), signal }
  try {
    signal?.throwIfAborted()
    const roomBytes = MAX_PATH_BYTES - Buffer.byteLength(joinPath(path, ''))
    walk.frames.push(await frameOf(start, { relativePath: '', roomBytes }, walk))
  } catch (error) {
    start.close()
    throw error
  }
  try {
    await visitAll(walk)
  } finally {
    for (const frame of walk.frames) frame.directory.close()
  }
}

async function visitAll(walk: Walk): Promise<void> {
  const { frames, slice, signal } = walk
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const goesOn = step(frame, walk)
    // Most steps wait for nothing.
    if (!(typeof goesOn === 'boolean' ? goesOn : await goesOn)) return
    if (!slice.due) continue
    await slice.pause()
    signal?.throwIfAborted()
  }
}

interface Walk {
  readonly frames: Frame[]
  /** Directories that are open at once, one for each level: what is deeper has no path. */
  readonly maxLevels: number
  readonly visitor: FileVisitor
  readonly slice: TimeSlice
  readonly signal: AbortSignal | undefined
}

/** Handles one child. False ends the walk. */
function step(frame: Frame, walk: Walk): boolean | Promise<boolean> {
  const { frames, visitor } = walk
  const child = frame.children[frame.next]
  frame.next += 1
  if (child === undefined) {
    frames.pop()
    frame.directory.close()
    return true
  }
  const { name } = child
  const relativePath = frame.relativePath === '' ? name : `${frame.relativePath}/${name}`
  if (child.isDirectory()) {
    return visitor.enters(relativePath) ? enter(frame, walk, { name, relativePath }) : true
  }
  if (isTooLong(frame, name)) {
    skipOnce(frame, visitor)
    return true
  }
  const kind = child.isFile() ? 'file' : child.isSymbolicLink() ? 'link' : undefined
  if (kind === undefined) return true
  return visitor.visit({ directory: frame.directory, name, relativePath, kind })
}

/** No path can name it: nothing could be done with it. */
function isTooLong({ roomBytes }: Frame, name: string): boolean {
  return name.length * 3 > roomBytes && Buffer.byteLength(name) > roomBytes
}

function skipOnce(frame: Frame, visitor: FileVisitor): void {
  if (!frame.hasSkipped) visitor.skip?.(frame.relativePath)
  frame.hasSkipped = true
}

async function enter(
  frame: Frame,
  walk: Walk,
  { name, relativePath }: { readonly name: string; readonly relativePath: string },
): Promise<true> {
  const { frames, maxLevels, visitor } = walk
  const roomBytes = frame.roomBytes - Buffer.byteLength(name) - 1
  if (frames.length >= maxLevels || roomBytes < 1) {
    skipOnce(frame, visitor)
    return true
  }
  try {
    const directory = frame.directory.child(name)
    try {
      frames.push(await frameOf(directory, { relativePath, roomBytes }, walk))
    } catch (error) {
      directory.close()
      throw error
    }
  } catch (error) {
    if (!isOutOfReach(error)) throw error
  }
  return true
}

/**
 * Whether what was listed cannot be opened because it was removed, replaced or closed to us by now:
 * there is nothing to find in it. Of other errors, such as a want of descriptors, a search must tell.
 */
export function isOutOfReach(error: unknown): boolean {
  return OUT_OF_REACH.has(errnoOf(error) ?? '')
}

const OUT_OF_REACH: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENXIO',
])

async function frameOf(
  directory: PinnedDirectory,
  place: { readonly relativePath: string; readonly roomBytes: number },
  { slice, signal }: Walk,
): Promise<Frame> {
  const children = await readSorted(directory, { slice, signal, keyOf: sortKey })
  return { directory, ...place, children, next: 0, hasSkipped: false }
}

/** A directory sorts as its name and a slash, so that whole paths come out in order. */
function sortKey(child: Dirent): string {
  return child.isDirectory() ? `${child.name}/` : child.name
}
