import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs'
import { compareCodePoints, sortByCodePoint, type TimeSlice } from '@helix-agents/core/provider'
import type { PinnedDirectory } from './pinned-directory.ts'

/** A directory of this size holds so many entries that it is read in slices of time. */
const LARGE_DIRECTORY_BYTES = 128 * 1024
const BATCH = 512

/** What a child is sorted by. */
export type SortKey = (child: Dirent) => string

const nameOf: SortKey = (child) => child.name

/** Children in code point order of their keys. Default: of their names. */
export async function readSorted(
  directory: PinnedDirectory,
  slice: TimeSlice,
  keyOf: SortKey = nameOf,
): Promise<readonly Dirent[]> {
  const isLarge = statSync(directory.self).size > LARGE_DIRECTORY_BYTES
  const children = isLarge
    ? await readInSlices(directory, slice)
    : readdirSync(directory.self, { withFileTypes: true })
  if (isSorted(children, keyOf)) return children
  const keyed = children.map((child) => ({ child, key: keyOf(child) }))
  const sorted = await sortByCodePoint(keyed, ({ key }) => key)
  return sorted.map(({ child }) => child)
}

/** The system returns names in no order, or in that of bytes, which is that of code points. */
function isSorted(children: readonly Dirent[], keyOf: SortKey): boolean {
  let previous: string | undefined
  for (const child of children) {
    const key = keyOf(child)
    // Only beyond the basic plane do the orders of strings and of code points differ.
    if (previous !== undefined && previous > key && compareCodePoints(previous, key) > 0)
      return false
    previous = key
  }
  return true
}

async function readInSlices(directory: PinnedDirectory, slice: TimeSlice): Promise<Dirent[]> {
  const children: Dirent[] = []
  const listing = opendirSync(directory.self, { bufferSize: BATCH })
  try {
    for (let child = listing.readSync(); child !== null; child = listing.readSync()) {
      children.push(child)
      if (slice.due) await slice.pause()
    }
  } finally {
    listing.closeSync()
  }
  return children
}
