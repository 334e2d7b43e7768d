import type { Dirent } from 'node:fs'
import { compareCodePoints, createTimeSlice } from '@helix-agents/core'
import { readSorted } from './list-directory.ts'
import { errnoOf } from './map-error.ts'
import type { PinnedDirectory } from './pinned-directory.ts'

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
  /** False ends the walk. */
  visit(file: FoundFile): boolean
}

interface Frame {
  readonly directory: PinnedDirectory
  readonly relativePath: string
  readonly children: readonly Dirent[]
  next: number
}

/**
 * Visits all files below a directory in the order of their paths, in slices of time. Directories
 * are opened by name in the open one above: no link, whenever it was made, leads the walk away.
 * The start is closed at the end.
 */
export async function walkFiles(
  start: PinnedDirectory,
  visitor: FileVisitor,
  signal: AbortSignal | undefined,
): Promise<void> {
  const slice = createTimeSlice()
  const frames: Frame[] = [frameOf(start, '')]
  try {
    signal?.throwIfAborted()
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      if (!step(frame, frames, visitor)) return
      if (!slice.due) continue
      await slice.pause()
      signal?.throwIfAborted()
    }
  } finally {
    for (const frame of frames) frame.directory.close()
  }
}

/** Handles one child. False ends the walk. */
function step(frame: Frame, frames: Frame[], visitor: FileVisitor): boolean {
  const child = frame.children[frame.next]
  frame.next += 1
  if (child === undefined) {
    frames.pop()?.directory.close()
    return true
  }
  const { name } = child
  const relativePath = frame.relativePath === '' ? name : `${frame.relativePath}/${name}`
  if (child.isDirectory()) {
    if (visitor.enters(relativePath)) enter(frame, frames, { name, relativePath })
    return true
  }
  const kind = child.isFile() ? 'file' : child.isSymbolicLink() ? 'link' : undefined
  if (kind === undefined) return true
  return visitor.visit({ directory: frame.directory, name, relativePath, kind })
}

function enter(
  frame: Frame,
  frames: Frame[],
  child: { readonly name: string; readonly relativePath: string },
): void {
  try {
    const directory = frame.directory.child(child.name)
    try {
      frames.push(frameOf(directory, child.relativePath))
    } catch (error) {
      directory.close()
      throw error
    }
  } catch (error) {
    // Removed, replaced or closed to us since it was listed: there is nothing to find in it.
    if (!SKIPPED.has(errnoOf(error) ?? '')) throw error
  }
}

const SKIPPED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'])

function frameOf(directory: PinnedDirectory, relativePath: string): Frame {
  return { directory, relativePath, children: inPathOrder(readSorted(directory)), next: 0 }
}

/** A directory sorts as its name and a slash, so that whole paths come out in order. */
function inPathOrder(children: readonly Dirent[]): readonly Dirent[] {
  const needsSort = children.some((child, index) => {
    const following = children[index + 1]
    return following !== undefined && child.isDirectory() && comesBeforeSlash(child, following)
  })
  if (!needsSort) return children
  const keyed = children.map((child) => ({ child, key: sortKey(child) }))
  return keyed.toSorted((a, b) => compareCodePoints(a.key, b.key)).map((entry) => entry.child)
}

/** Whether the next name starts with the directory's and goes on with less than a slash. */
function comesBeforeSlash(directory: Dirent, following: Dirent): boolean {
  if (!following.name.startsWith(directory.name)) return false
  return following.name.charCodeAt(directory.name.length) < SLASH
}

const SLASH = 47

function sortKey(child: Dirent): string {
  return child.isDirectory() ? `${child.name}/` : child.name
}
