import { type Dirent, opendirSync, readdirSync, statSync } from 'node:fs'
import { compareCodePoints, type TimeSlice } from '@helix-agents/core'
import type { PinnedDirectory } from './pinned-directory.ts'

/** A directory of this size holds so many entries that it is read and sorted in slices of time. */
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
  const sorted = isLarge ? await sortInSlices(keyed, slice) : keyed.toSorted(byKey)
  return sorted.map(({ child }) => child)
}

interface Keyed {
  readonly child: Dirent
  readonly key: string
}

function byKey(a: Keyed, b: Keyed): number {
  return compareCodePoints(a.key, b.key)
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

/** Merges runs, shortest first. */
async function sortInSlices(items: readonly Keyed[], slice: TimeSlice): Promise<Keyed[]> {
  let runs: Keyed[][] = []
  for (let start = 0; start < items.length; start += BATCH) {
    runs.push(items.slice(start, start + BATCH).toSorted(byKey))
    if (slice.due) await slice.pause()
  }
  while (runs.length > 1) {
    const merged: Keyed[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await mergeTwo(runs[at] ?? [], runs[at + 1] ?? [], slice))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeTwo(
  left: readonly Keyed[],
  right: readonly Keyed[],
  slice: TimeSlice,
): Promise<Keyed[]> {
  const merged: Keyed[] = []
  let [atLeft, atRight] = [0, 0]
  for (;;) {
    const [a, b] = [left[atLeft], right[atRight]]
    if (a === undefined && b === undefined) return merged
    if (b === undefined || (a !== undefined && byKey(a, b) <= 0)) {
      if (a !== undefined) merged.push(a)
      atLeft += 1
    } else {
      merged.push(b)
      atRight += 1
    }
    if (merged.length % BATCH === 0 && slice.due) await slice.pause()
  }
}
