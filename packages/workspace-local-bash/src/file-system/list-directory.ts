import { type Dirent, lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  createTimeSlice,
  type FileEntry,
  type FileType,
  joinPath,
  pathDepth,
} from '@helix-agents/core/provider'
import type { FileContext } from './file-context.ts'
import { errnoOf, toFileSystemError } from './map-error.ts'
import type { PinnedDirectory } from './path/pinned-directory.ts'
import { readSorted } from './tree/read-sorted.ts'

/** Direct children, sorted by name. */
export async function listDirectory(context: FileContext, path: string): Promise<FileEntry[]> {
  const directory = context.containment.openDirectory(path)
  try {
    const children = await readSorted(directory, { slice: createTimeSlice() })
    const listing = { directory, children, path }
    return (await listQuickly(context, listing)) ?? (await listBy(directory.self, listing))
  } catch (error) {
    throw toFileSystemError(error, path)
  } finally {
    directory.close()
  }
}

interface Listing {
  readonly directory: PinnedDirectory
  readonly children: readonly Dirent[]
  readonly path: string
}

/**
 * Looks children up by their path on the host, which is twice as fast as through the descriptor,
 * and then makes sure that this path led to the directory all the time: whoever exchanges a
 * directory on the way changes the time of the one above. Undefined when one did change, and where
 * the check costs more than it saves.
 */
async function listQuickly(
  context: FileContext,
  listing: Listing,
): Promise<FileEntry[] | undefined> {
  const { directory, children, path } = listing
  // Each directory on the way is looked at twice.
  if (!context.versions.isFine || children.length <= 4 * pathDepth(path)) return undefined
  const location = shortLocation(directory)
  if (location === undefined) return undefined
  const before = traceOf(context, location)
  const pinned = lstatSync(directory.at('.'), { bigint: true })
  if (before?.inode !== pinned.ino) return undefined
  const entries = await listBy(location, listing)
  return traceOf(context, location)?.trace === before.trace ? entries : undefined
}

/** Where it is on the host; undefined when the paths of its children may be too long to use. */
function shortLocation(directory: PinnedDirectory): string | undefined {
  try {
    const location = directory.location()
    return Buffer.byteLength(location) <= MAX_LOCATION_BYTES ? location : undefined
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return undefined
    throw error
  }
}

/** Room for a name of 255 bytes within the 4,096 of a path. */
const MAX_LOCATION_BYTES = 3800

/** Inodes and change times of a directory and all above it, up to the one that holds the root. */
function traceOf(
  { containment }: FileContext,
  location: string,
): { readonly trace: string; readonly inode: bigint } | undefined {
  const top = dirname(containment.root)
  let [trace, inode] = ['', 0n]
  for (let at = location; at.length >= top.length; at = dirname(at)) {
    const stats = lstatSync(at, { bigint: true, throwIfNoEntry: false })
    if (!stats?.isDirectory()) return undefined
    if (at === location) inode = stats.ino
    trace += `${stats.ino}:${stats.ctimeNs} `
    if (at === top) return { trace, inode }
  }
  return undefined
}

/** @param base Path on the host to look children up in. */
async function listBy(base: string, { children, path }: Listing): Promise<FileEntry[]> {
  const slice = createTimeSlice()
  const entries: FileEntry[] = []
  for (const child of children) {
    entries.push(toEntry(base, child, joinPath(path, child.name)))
    if (slice.due) await slice.pause()
  }
  return entries
}

function toEntry(base: string, child: Dirent, path: string): FileEntry {
  const { name } = child
  const type = typeOf(child)
  if (type !== 'file') return { name, path, type }
  const stats = lstatSync(`${base}/${name}`, { throwIfNoEntry: false })
  return stats === undefined ? { name, path, type } : { name, path, type, size: stats.size }
}

function typeOf(child: Dirent): FileType {
  if (child.isDirectory()) return 'directory'
  if (child.isFile()) return 'file'
  return child.isSymbolicLink() ? 'symlink' : 'other'
}
