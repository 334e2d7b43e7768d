import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs'
import { compareCodePoints, sortByCodePoint, type TimeSlice } from '@helix-agents/core/provider'
import type { PinnedDirectory } from '../path/pinned-directory.ts'

/** A directory of this size holds so many entries that it is read in slices of time. */
export const LARGE_DIRECTORY_BYTES = 128 * 1024
const BATCH = 512

/** What a child is sorted by. */
export type SortKey = (child: Dirent) => string

const nameOf: SortKey = (child) => child.name

export interface ReadOptions {
  readonly slice: TimeSlice
  readonly signal?: AbortSignal | undefined
  /** Default: the name of a child. */
  readonly keyOf?: SortKey
}

/**
 * Children in code point order of their keys.
 * @throws the reason of the signal, the system's error.
 */
export async function readSorted(
  directory: PinnedDirectory,
  options: ReadOptions,
): Promise<readonly Dirent[]> {
  const { signal, keyOf = nameOf } = options
  const isLarge = statSync(directory.self).size > LARGE_DIRECTORY_BYTES
  const children = isLarge
    ? await readInSlices(directory, options)
    : readdirSync(directory.self, { withFileTypes: true })
  if (isSorted(children, keyOf)) return children
  const keyed = children.map((child) => ({ child, key: keyOf(child) }))
  const sorted = await sortByCodePoint(keyed, ({ key }) => key, signal)
  return sorted.map(({ child }) => child)
}

/** The system returns names in no order, or in that of bytes, which is that of code points. */
function isSorted(children: readonly Dirent[], keyOf: SortKey): boolean {
  let previous: string | undefined
  for (const child of children) {
    const key = keyOf(child)
    if (previous !== undefined && compareCodePoints(previous, key) > 0) return false
    previous = key
  }
  return true
}

async function readInSlices(
  directory: PinnedDirectory,
  { slice, signal }: ReadOptions,
): Promise<Dirent[]> {
  const children: Dirent[] = []
  const listing = opendirSync(directory.self, { bufferSize: BATCH })
  try {
    for (let child = listing.readSync(); child !== null; child = listing.readSync()) {
      children.push(child)
      if (!slice.due) continue
      await slice.pause()
      signal?.throwIfAborted()
    }
  } finally {
    listing.closeSync()
  }
  return children
}
