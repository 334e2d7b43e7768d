import { countLineFeeds } from './line-endings.ts'

const CONTEXT_LINES = 3
/** More hunks, and more lines of one, are counted but not shown. */
const MAX_HUNKS = 10
const MAX_SIDE_LINES = 60
const MAX_LINE_CHARACTERS = 500

/** Literal text and what stands in its place. */
export interface Replacement {
  readonly oldText: string
  readonly newText: string
}

/**
 * Unified hunks of literal replacements. Costs the lines around the places, not the file.
 *
 * @param places Where the old text stands, from left to right, without overlap.
 * @param firstLine Line of the first place.
 */
export function unifiedHunks(
  text: string,
  places: readonly number[],
  replacement: Replacement,
  firstLine: number,
): string {
  const delta = lineDelta(replacement)
  const groups = groupByLine(text, places, replacement)
  const hunks: string[] = []
  let line = firstLine
  let from = places[0] ?? 0
  let before = 0
  for (const group of groups.slice(0, MAX_HUNKS)) {
    const place = group[0] ?? from
    line += countLineFeeds(text, from, place)
    from = place
    hunks.push(hunkAt(text, group, replacement, { line, shift: delta * before }))
    before += group.length
  }
  const hidden = places.length - before
  if (hidden > 0) hunks.push(`[${hidden} more places changed in the same way]`)
  return hunks.join('\n')
}

/** Places that share a line belong to one hunk. */
function groupByLine(
  text: string,
  places: readonly number[],
  replacement: Replacement,
): readonly number[][] {
  const groups: number[][] = []
  let end = -1
  for (const place of places) {
    if (place < end) groups.at(-1)?.push(place)
    // Enough to show, and to tell how many are not shown.
    else if (groups.push([place]) > MAX_HUNKS) break
    end = endOfChange(text, place, replacement)
  }
  return groups
}

function lineDelta({ oldText, newText }: Replacement): number {
  const before = countLineFeeds(oldText, 0, oldText.length)
  return countLineFeeds(newText, 0, newText.length) - before
}

interface HunkPlace {
  /** Line of the place in the old text. */
  readonly line: number
  /** How many lines later it is in the new text. */
  readonly shift: number
}

function hunkAt(
  text: string,
  places: readonly number[],
  replacement: Replacement,
  at: HunkPlace,
): string {
  const first = places[0] ?? 0
  const lineStart = first === 0 ? 0 : text.lastIndexOf('\n', first - 1) + 1
  const end = endOfChange(text, places.at(-1) ?? first, replacement)
  const removed = toLines(text.slice(lineStart, end))
  let written = ''
  let from = lineStart
  for (const place of places) {
    written += text.slice(from, place) + replacement.newText
    from = place + replacement.oldText.length
  }
  const added = toLines(written + text.slice(from, end))
  const before = linesBefore(text, lineStart)
  const behind = linesAfter(text, end)
  const oldStart = at.line - before.length
  const oldCount = before.length + removed.length + behind.length
  const newCount = before.length + added.length + behind.length
  return [
    `@@ -${oldStart},${oldCount} +${oldStart + at.shift},${newCount} @@`,
    ...before.map((line) => ` ${crop(line)}`),
    ...side('-', removed),
    ...side('+', added),
    ...behind.map((line) => ` ${crop(line)}`),
  ].join('\n')
}

/** End of the last line that the change touches. Whole lines for whole lines touch no more. */
function endOfChange(text: string, place: number, replacement: Replacement): number {
  const { oldText, newText } = replacement
  const after = place + oldText.length
  const isLineStart = place === 0 || text[place - 1] === '\n'
  const leavesLine = newText === '' ? isLineStart : newText.endsWith('\n')
  if (oldText.endsWith('\n') && leavesLine) return after
  const end = text.indexOf('\n', after)
  return end < 0 ? text.length : end + 1
}

function side(sign: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_SIDE_LINES).map((line) => sign + crop(line))
  const hidden = lines.length - shown.length
  return hidden > 0 ? [...shown, `${sign}[${hidden} more lines]`] : shown
}

function toLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(withoutReturn)
}

function linesBefore(text: string, start: number): string[] {
  const lines: string[] = []
  let end = start
  while (lines.length < CONTEXT_LINES && end > 0) {
    const next = end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1
    lines.push(withoutReturn(text.slice(next, end - 1)))
    end = next
  }
  return lines.toReversed()
}

function linesAfter(text: string, from: number): string[] {
  const lines: string[] = []
  let start = from
  while (lines.length < CONTEXT_LINES && start < text.length) {
    const end = text.indexOf('\n', start)
    lines.push(withoutReturn(text.slice(start, end < 0 ? text.length : end)))
    start = end < 0 ? text.length : end + 1
  }
  return lines
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function crop(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line
  return `${line.slice(0, MAX_LINE_CHARACTERS)}…[${line.length} characters]`
}
