import { describeDifference } from '../edit/line-difference.ts'
import { findNearestPlace, showBlanks, showLines } from '../edit/nearest-lines.ts'
import type { PatchedFile } from './file-lines.ts'
import { MAX_PLACES } from './hunk-search.ts'
import { oldLinesOf, patchFailed, type PatchHunk } from './patch-model.ts'

/** Lines of a file that are compared, around the place that the patch names. */
const MAX_COMPARED = 20_000
const MAX_SHOWN = 8
const MAX_LINE = 2000

const AS_IT_IS = 'Send the whole patch again with the lines as the file has them.'

/** Names a hunk in a message. */
export function nameOfHunk(path: string, hunk: PatchHunk): string {
  return `hunk ${hunk.number} of ${JSON.stringify(path)} (line ${hunk.at} of the patch)`
}

/** The lines of a hunk stand nowhere in the file: shows the nearest ones and the first difference. */
export async function misfit(
  file: PatchedFile,
  hunk: PatchHunk,
  stated: number | undefined,
): Promise<Error> {
  const { lines, turn } = file
  const from = Math.max(0, Math.min(stated ?? 0, lines.count) - MAX_COMPARED / 2)
  const end = Math.min(lines.count, from + MAX_COMPARED)
  const near = Array.from({ length: end - from }, (_, i) => contentOf(file, from + i))
  const wanted = oldLinesOf(hunk).map((line) => line.text.slice(0, MAX_LINE))
  const found = await findNearestPlace(near, wanted, turn)
  const name = nameOfHunk(file.path, hunk)
  if (found === undefined) {
    return patchFailed(
      `${name} does not fit: no line of the file is like ${JSON.stringify((wanted.find((line) => line.trim() !== '') ?? '').slice(0, 120))}`,
      'Read the file again with read_file, then send the patch with the lines that it has now.',
    )
  }
  const difference = describeDifference(
    { lines: near, start: found, isCut: end < lines.count },
    { lines: wanted, name: 'the patch', isPart: false },
    from,
  )
  const first = Math.max(0, firstDifferent(near, wanted, found) - 2)
  return patchFailed(
    `${name} does not fit the file`,
    [
      'The nearest lines of the file (· is a blank, → a tab):',
      ...showLines(near.slice(found + first, found + first + MAX_SHOWN), from + found + first),
      'The patch has there:',
      ...wanted.slice(first, first + MAX_SHOWN).map((line) => `  ${showBlanks(line)}`),
      difference,
      AS_IT_IS,
    ].join('\n'),
  )
}

function contentOf({ lines }: PatchedFile, index: number): string {
  const start = lines.startOf(index)
  return lines.text.slice(start, start + Math.min(lines.lengthOf(index), MAX_LINE))
}

function firstDifferent(near: readonly string[], wanted: readonly string[], found: number): number {
  const index = wanted.findIndex((line, i) => near[found + i] !== line)
  return Math.max(0, index)
}

/** The lines of a hunk stand at several places, and its header names none of them. */
export function ambiguousPlace(
  file: PatchedFile,
  hunk: PatchHunk,
  places: readonly number[],
): Error {
  const named = places.slice(0, MAX_PLACES).map((place) => place + 1)
  const rest = places.length > MAX_PLACES ? ', …' : ''
  return patchFailed(
    `${nameOfHunk(file.path, hunk)} fits at lines ${named.join(', ')}${rest}, and ${sayNumber(hunk)}`,
    'Add lines around the change until they stand at one place only, or give the right line number in the @@ header.',
  )
}

function sayNumber({ oldStart }: PatchHunk): string {
  return oldStart === undefined
    ? 'it does not say which of them is meant'
    : `its line number ${oldStart} does not decide which of them is meant`
}

/** The hunk says nothing about its place, or something that is not so. */
export function noPlace(file: PatchedFile, hunk: PatchHunk, places: readonly number[]): Error {
  const name = nameOfHunk(file.path, hunk)
  if (places.length === 0) {
    return patchFailed(
      `${name} only adds lines and does not say where`,
      'Add a line or two of the file in front of the new lines or behind them, each with a blank in front.',
    )
  }
  const where = hunk.isAtEnd ? 'at the end of the file' : 'below the line after @@'
  const lines = places.slice(0, MAX_PLACES).map((place) => place + 1)
  return patchFailed(
    `${name} does not fit ${where}; its lines stand at line ${lines.join(', ')}`,
    hunk.isAtEnd ? 'Leave *** End of File out, or send the last lines of the file.' : AS_IT_IS,
  )
}

/** A line after `@@` is not in the file. */
export async function scopeMissing(
  file: PatchedFile,
  hunk: PatchHunk,
  scope: string,
): Promise<Error> {
  const { lines, turn } = file
  const count = Math.min(lines.count, MAX_COMPARED)
  const near = Array.from({ length: count }, (_, i) => contentOf(file, i))
  const found = await findNearestPlace(near, [scope], turn)
  const hint =
    found === undefined
      ? 'Read the file again with read_file.'
      : `The nearest is line ${found + 1}: ${showBlanks(near[found] ?? '')}`
  return patchFailed(
    `${nameOfHunk(file.path, hunk)}: the file has no line ${JSON.stringify(scope.slice(0, 120))}, which stands after @@`,
    `${hint}\nWrite such a line as the file has it, or leave it out and add lines around the change.`,
  )
}

/** More lines after `@@` than any code is nested. */
export function tooManyScopes(file: PatchedFile, hunk: PatchHunk, max: number): Error {
  return patchFailed(
    `${nameOfHunk(file.path, hunk)} has ${hunk.scopes.length} lines after @@, and at most ${max} are allowed`,
    'Leave them out and add lines around the change.',
  )
}

/** Two hunks change the same lines. */
export function overlap(path: string, hunk: PatchHunk, other: PatchHunk, line: number): Error {
  return patchFailed(
    `${nameOfHunk(path, hunk)} and hunk ${other.number} both need line ${line + 1} of the file`,
    'Make one hunk of the two. All hunks are against the file as it is now, not as the hunk before leaves it.',
  )
}

/** What a hunk says of the last line end is not so. */
export function wrongFileEnd(path: string, hunk: PatchHunk, detail: string): Error {
  return patchFailed(
    `${nameOfHunk(path, hunk)}: ${detail}`,
    'The line "\\ No newline at end of file" stands only behind the last line of a file that ends without a line end. Leave it out, or put it there.',
  )
}
