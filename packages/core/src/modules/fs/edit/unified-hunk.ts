import { countLineFeedsInTurns } from '../text/line-endings.ts'
import type { WorkTurn } from './work-turn.ts'

const CONTEXT_LINES = 3
/** More hunks, and more lines of one, are counted but not shown. */
const MAX_HUNKS = 10
const MAX_SIDE_LINES = 60
const MAX_LINE_CHARACTERS = 500
const MAX_LEAD_CHARACTERS = 100
/** Characters of a side of a hunk that are inspected. */
const MAX_SIDE_CHARACTERS = 60_000

/** Literal text and what stands in its place. */
export interface Replacement {
  readonly oldText: string
  readonly newText: string
}

/** Where a text is replaced. */
export interface ReplacedPlaces {
  readonly text: string
  /** The first places of the old text, from left to right, without overlap. */
  readonly first: readonly number[]
  /** All places. */
  readonly count: number
  /** Line of the first place. */
  readonly firstLine: number
  readonly turn: WorkTurn
}

/** Unified hunks of literal replacements. Costs the lines around the places, not the file. */
export async function unifiedHunks(
  replaced: ReplacedPlaces,
  replacement: Replacement,
): Promise<string> {
  const { text, first, turn } = replaced
  const delta = await lineDelta(replacement, turn)
  const hunks: string[] = []
  let line = replaced.firstLine
  let from = first[0] ?? 0
  let before = 0
  for (const group of groupByLine(text, first, replacement).slice(0, MAX_HUNKS)) {
    const { places } = group
    const place = places[0] ?? from
    line += await countLineFeedsInTurns(text, from, place, turn)
    from = place
    before += places.length
    // The rest of a line with more places than are known is left out.
    const isCut = before === first.length && before < replaced.count
    const end = isCut ? endOfPlace(places, replacement) : group.end
    const hunk = { text, places, end, line, shift: delta * (before - places.length), delta, turn }
    hunks.push(await hunkAt(hunk, replacement))
  }
  const hidden = replaced.count - before
  if (hidden > 0) hunks.push(`[${hidden} more places changed in the same way]`)
  return hunks.join('\n')
}

/** Places that share a line, and the end of the last line that they touch. */
interface Group {
  readonly places: number[]
  end: number
}

/** Places that share a line belong to one hunk. Each line is searched for its end once. */
function groupByLine(text: string, places: readonly number[], replacement: Replacement): Group[] {
  const groups: Group[] = []
  for (const place of places) {
    const group = groups.at(-1)
    if (group === undefined || place >= group.end) {
      // Enough to show, and to know how many are not shown.
      const isLast = groups.length === MAX_HUNKS
      groups.push({ places: [place], end: isLast ? 0 : endOfChange(text, place, replacement) })
      if (isLast) break
      continue
    }
    group.places.push(place)
    if (place + replacement.oldText.length >= group.end) {
      group.end = endOfChange(text, place, replacement)
    }
  }
  return groups
}

function endOfPlace(places: readonly number[], { oldText }: Replacement): number {
  return (places.at(-1) ?? 0) + oldText.length
}

/** Lines that one replacement adds. */
async function lineDelta({ oldText, newText }: Replacement, turn: WorkTurn): Promise<number> {
  const before = await countLineFeedsInTurns(oldText, 0, oldText.length, turn)
  return (await countLineFeedsInTurns(newText, 0, newText.length, turn)) - before
}

interface Hunk {
  readonly text: string
  readonly places: readonly number[]
  /** End of the changed lines. */
  readonly end: number
  /** Line of the first place in the old text. */
  readonly line: number
  /** How many lines later it is in the new text. */
  readonly shift: number
  /** Lines that each place adds. */
  readonly delta: number
  readonly turn: WorkTurn
}

async function hunkAt(hunk: Hunk, replacement: Replacement): Promise<string> {
  const { text, places, end } = hunk
  const first = places[0] ?? 0
  const lineStart = first === 0 ? 0 : text.lastIndexOf('\n', first - 1) + 1
  const feeds = await countLineFeedsInTurns(text, lineStart, end, hunk.turn)
  const removed = feeds + (end > lineStart && text[end - 1] !== '\n' ? 1 : 0)
  const added = feeds + hunk.delta * places.length + openLine(hunk, lineStart, replacement)
  const before = linesBefore(text, lineStart)
  const behind = linesAfter(text, end)
  const around = before.length + behind.length
  const oldStart = hunk.line - before.length
  // Of a long line the part with the change is shown.
  const isFar = first - lineStart > MAX_LINE_CHARACTERS - MAX_LEAD_CHARACTERS
  const from = isFar ? first - MAX_LEAD_CHARACTERS : lineStart
  const lead = isFar ? '…' : ''
  return [
    `@@ -${oldStart},${around + removed} +${oldStart + hunk.shift},${around + added} @@`,
    ...before.map((line) => ` ${crop(line)}`),
    ...side(`-${lead}`, text.slice(from, Math.min(end, from + MAX_SIDE_CHARACTERS)), removed),
    ...side(`+${lead}`, newSide(hunk, from, replacement), added),
    ...behind.map((line) => ` ${crop(line)}`),
  ].join('\n')
}

/** 1 when the changed lines end without a line feed in the new text, else 0. */
function openLine(hunk: Hunk, lineStart: number, { oldText, newText }: Replacement): number {
  const { text, places } = hunk
  let end = hunk.end
  for (const place of places.toReversed()) {
    if (place + oldText.length < end) return text[end - 1] === '\n' ? 0 : 1
    if (newText !== '') return newText.endsWith('\n') ? 0 : 1
    end = place
  }
  return end > lineStart && text[end - 1] !== '\n' ? 1 : 0
}

/** The beginning of the changed lines as they are now. */
function newSide(hunk: Hunk, start: number, { oldText, newText }: Replacement): string {
  const { text, places, end } = hunk
  const shown = newText.slice(0, MAX_SIDE_CHARACTERS)
  let written = ''
  let from = start
  for (const place of places) {
    written += text.slice(from, Math.min(place, from + MAX_SIDE_CHARACTERS)) + shown
    if (written.length >= MAX_SIDE_CHARACTERS) return written.slice(0, MAX_SIDE_CHARACTERS)
    from = place + oldText.length
  }
  return written + text.slice(from, Math.min(end, from + MAX_SIDE_CHARACTERS))
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

function side(lead: string, text: string, count: number): string[] {
  const sign = lead.slice(0, 1)
  const shown = toLines(text).slice(0, MAX_SIDE_LINES)
  const hidden = count - shown.length
  const lines = shown.map((line, index) => (index === 0 ? lead : sign) + crop(line))
  return hidden > 0 ? [...lines, `${sign}[${hidden} more lines]`] : lines
}

function toLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n', MAX_SIDE_LINES + 1)
  if (lines.at(-1) === '' && lines.length <= MAX_SIDE_LINES) lines.pop()
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
  return `${line.slice(0, MAX_LINE_CHARACTERS)}…[long line]`
}
