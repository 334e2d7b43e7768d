import type { PatchedFile } from './file-lines.ts'
import { ambiguousPlace, misfit, noPlace } from './hunk-refusal.ts'
import { HunkSearch } from './hunk-search.ts'
import { oldLinesOf, type PatchHunk } from './patch-model.ts'
import { findScopes, isWithin } from './scopes.ts'

/** A hunk and the line where it belongs, from 0. */
export interface PlacedHunk {
  readonly hunk: PatchHunk
  readonly place: number
}

/**
 * Finds the one place of each hunk: the line that its header names when its lines stand there,
 * else the only place in the file where they stand.
 *
 * @throws {ToolInputError} `patch-failed` when there is none, or when there are several.
 */
export async function placeHunks(
  file: PatchedFile,
  hunks: readonly PatchHunk[],
): Promise<PlacedHunk[]> {
  const search = new HunkSearch(file.lines, hunks, file.turn)
  const placed: PlacedHunk[] = []
  let drift = 0
  for (const hunk of hunks) {
    if (file.turn.due) await file.turn.pause()
    const isBare = oldLinesOf(hunk).length === 0
    const place = isBare
      ? placeOfInsertion(file, hunk, drift)
      : await placeOf(file, search, hunk, drift)
    if (hunk.oldStart !== undefined && !isBare) drift = place - statedPlace(hunk.oldStart)
    placed.push({ hunk, place })
  }
  return placed
}

/** The line that a header names, from 0. */
export function statedPlace(oldStart: number): number {
  return Math.max(0, oldStart - 1)
}

async function placeOf(
  file: PatchedFile,
  search: HunkSearch,
  hunk: PatchHunk,
  drift: number,
): Promise<number> {
  const stated = hunk.oldStart === undefined ? undefined : statedPlace(hunk.oldStart)
  if (stated !== undefined && isCertain(file, search, hunk, { stated, drift })) return stated
  const all = await search.places(hunk)
  const places = await narrow(file, search, hunk, all)
  const [only] = places
  if (only === undefined) {
    throw all.length > 0 ? noPlace(file, hunk, all) : await misfit(file, hunk, stated)
  }
  if (places.length > 1) throw ambiguousPlace(file, hunk, places)
  return only
}

/** Whether the line that the header names decides. */
function isCertain(
  file: PatchedFile,
  search: HunkSearch,
  hunk: PatchHunk,
  { stated, drift }: { readonly stated: number; readonly drift: number },
): boolean {
  if (!search.fits(hunk, stated) || !isInReach(file, hunk, stated)) return false
  // Hunks above that were found elsewhere make the number less certain than it looks.
  return drift === 0 || !search.fits(hunk, stated + drift)
}

/** Where lines go that nothing stands around. */
function placeOfInsertion(file: PatchedFile, hunk: PatchHunk, drift: number): number {
  const { count } = file.lines
  if (count === 0 || hunk.isAtEnd) return count
  const { oldStart, isInsertion } = hunk
  if (isInsertion && oldStart !== undefined && oldStart <= count && drift === 0) return oldStart
  throw noPlace(file, hunk, [])
}

function isInReach({ lines }: PatchedFile, hunk: PatchHunk, place: number): boolean {
  return !hunk.isAtEnd || place + oldLinesOf(hunk).length === lines.count
}

/**
 * Leaves out places that are not at the end, or not below the lines after `@@`. Of all places only
 * the first are known, so those that count are looked for again.
 */
async function narrow(
  file: PatchedFile,
  search: HunkSearch,
  hunk: PatchHunk,
  all: readonly number[],
): Promise<readonly number[]> {
  if (all.length === 0 || (hunk.scopes.length === 0 && !hunk.isAtEnd)) return all
  const reaches = (place: number) => isInReach(file, hunk, place)
  if (hunk.scopes.length === 0) return search.places(hunk, reaches)
  const blocks = await findScopes(file, search, hunk)
  const inBlock = await search.places(hunk, (place) => reaches(place) && isWithin(blocks, place))
  if (inBlock.length > 0) return inBlock
  const start = Math.min(...blocks.map(({ first }) => first))
  return search.places(hunk, (place) => reaches(place) && place >= start)
}
