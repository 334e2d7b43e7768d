import { ToolInputError } from '../../errors/tool-input-error.ts'
import { countLineFeeds, hasWindowsLineEnds, toWindowsLineEnds } from './line-endings.ts'
import type { LineRange } from './line-ranges.ts'
import { describeNearest } from './nearest-lines.ts'
import { type Replacement, unifiedHunks } from './unified-hunk.ts'

/** Places named when a text is ambiguous. */
const MAX_NAMED_LINES = 20

/** One replacement of literal text. */
export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

/** A text after an edit. */
export interface AppliedEdit {
  readonly text: string
  readonly replacements: number
  /** Lines of the new text that the edit wrote; with several places, of the first. */
  readonly lines: LineRange
  /** Lines of the old text that were replaced; with several places, from the first to the last. */
  readonly oldLines: LineRange
  /** Unified hunks, bounded. */
  readonly diff: string
}

/**
 * Replaces literal text: nothing in `newText` has a special meaning. It must occur exactly once
 * unless `replaceAll`. Where the file has CRLF line ends and the edit has not, they are added to
 * both texts, since the model never sees them.
 *
 * @throws {ToolInputError} `invalid-input` for an empty `oldText` or one equal to `newText`;
 * `no-match` with the nearest lines; `ambiguous-match` with count and line numbers.
 */
export function applyEdit(path: string, text: string, edit: TextEdit): AppliedEdit {
  if (edit.oldText === '') throw invalidEdit('oldText', 'must not be empty')
  if (edit.oldText === edit.newText) throw invalidEdit('newText', 'is the same as oldText')
  const { places, replacement } = locate(text, edit)
  if (places.length === 0) {
    throw new ToolInputError('no-match', `oldText does not occur in ${JSON.stringify(path)}`, {
      hint: describeNearest(text, edit.oldText),
    })
  }
  if (places.length > 1 && edit.replaceAll !== true) throw ambiguous(path, text, places)
  return replacePlaces(text, places, replacement)
}

function invalidEdit(field: string, message: string): ToolInputError {
  return new ToolInputError('invalid-input', 'the edit is not valid', {
    issues: [{ path: field, message }],
  })
}

interface Located {
  readonly places: readonly number[]
  readonly replacement: Replacement
}

/** Looks for the text as it is, then with CRLF line ends. */
function locate(text: string, edit: TextEdit): Located {
  // A line feed at the start would match the second half of a CRLF.
  return (edit.oldText.startsWith('\n') && locateWindows(text, edit)) || locateLiteral(text, edit)
}

function locateWindows(text: string, { oldText, newText }: TextEdit): Located | undefined {
  const replacement = { oldText: toWindowsLineEnds(oldText), newText: toWindowsLineEnds(newText) }
  if (replacement.oldText === oldText) return undefined
  const places = findPlaces(text, replacement.oldText)
  return places.length === 0 ? undefined : { places, replacement }
}

function locateLiteral(text: string, edit: TextEdit): Located {
  const { oldText, newText } = edit
  const places = findPlaces(text, oldText)
  if (places.length > 0) {
    // Text within a line says nothing about line ends; the file does.
    const needsCrlf = !oldText.includes('\n') && hasWindowsLineEnds(text)
    return {
      places,
      replacement: { oldText, newText: needsCrlf ? toWindowsLineEnds(newText) : newText },
    }
  }
  return locateWindows(text, edit) ?? { places, replacement: edit }
}

/** Places from left to right that do not overlap. */
function findPlaces(text: string, wanted: string): number[] {
  const places: number[] = []
  let place = text.indexOf(wanted)
  while (place >= 0) {
    places.push(place)
    place = text.indexOf(wanted, place + wanted.length)
  }
  return places
}

function replacePlaces(
  text: string,
  places: readonly number[],
  replacement: Replacement,
): AppliedEdit {
  const { oldText, newText } = replacement
  const pieces: string[] = []
  let end = 0
  for (const place of places) {
    pieces.push(text.slice(end, place), newText)
    end = place + oldText.length
  }
  pieces.push(text.slice(end))
  const first = places[0] ?? 0
  const firstLine = countLineFeeds(text, 0, first) + 1
  const lastPlace = places.at(-1) ?? first
  const oldLast = firstLine + countLineFeeds(text, first, lastPlace + oldText.length)
  return {
    text: pieces.join(''),
    replacements: places.length,
    lines: [firstLine, firstLine + countLineFeeds(newText, 0, newText.length)],
    oldLines: [firstLine, oldLast],
    diff: unifiedHunks(text, places, replacement, firstLine),
  }
}

function ambiguous(path: string, text: string, places: readonly number[]): ToolInputError {
  const lines: number[] = []
  let line = 1
  let from = 0
  for (const place of places.slice(0, MAX_NAMED_LINES)) {
    line += countLineFeeds(text, from, place)
    from = place
    lines.push(line)
  }
  const rest = places.length > lines.length ? ', …' : ''
  const count = places.length
  return new ToolInputError(
    'ambiguous-match',
    `oldText occurs ${count} times in ${JSON.stringify(path)}, at lines ${lines.join(', ')}${rest}`,
    { hint: 'Add lines around it so that it occurs once, or set replaceAll.' },
  )
}
