import { countLineFeedsInTurns, hasWindowsLineEnds } from '../text/line-endings.ts'
import type { WorkTurn } from './work-turn.ts'

/** Characters of both sides that are compared line by line; more are shown as one change. */
const MAX_COMPARED = 100_000
/** The time of a comparison grows with its square, and the clock of a Worker stands still. */
const MAX_EDITS = 500
const MAX_COMPARE_MS = 25
/** Characters that are compared at once, where two texts begin and end. */
const STEP = 65_536
const CONTEXT_LINES = 3
/** Further characters of a diff are not made. */
const MAX_CHARACTERS = 40_000
/** Characters of a side that are shown when its lines are not compared. */
const MAX_SIDE_CHARACTERS = MAX_CHARACTERS / 2

/** A file before and after a change; without a name there is none. */
export interface FileSides {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly before: string
  readonly after: string
}

/** A unified diff, with its two names in front. */
export interface FileDiff {
  readonly diff: string
  /** Some of the change is not in it. */
  readonly isCut: boolean
}

/** The unified diff of a whole change, as a person reads it. Costs little where little changes. */
export async function fileDiff(sides: FileSides, turn: WorkTurn): Promise<FileDiff> {
  const { before, after } = sides
  const head = namesOf(sides)
  if (before === after) return { diff: head, isCut: false }
  if (isBinary(before) || isBinary(after)) {
    const sizes = `${before.length} characters before, ${after.length} after`
    return { diff: `${head}\n[binary: ${sizes}]`, isCut: true }
  }
  if (turn.due) await turn.pause()
  const change = await findChange(before, after, turn)
  const isSmall = change.old.length + change.now.length <= MAX_COMPARED
  const hunks = isSmall ? await comparedHunks(change) : undefined
  const diff = `${head}\n${hunks ?? (await blockHunk(change, turn))}`
  const isCut = diff.length > MAX_CHARACTERS || (hunks === undefined && isShortened(change))
  return { diff: diff.slice(0, MAX_CHARACTERS), isCut }
}

function namesOf({ from, to }: FileSides): string {
  const oldName = from === undefined ? '/dev/null' : `a${from}`
  const newName = to === undefined ? '/dev/null' : `b${to}`
  return `--- ${oldName}\n+++ ${newName}`
}

function isBinary(text: string): boolean {
  return text.includes('\0')
}

/** The lines between the first and the last that differ, and those around them. */
interface Change {
  readonly above: string
  readonly old: string
  readonly now: string
  readonly below: string
  /** Lines in front of `above`. */
  readonly linesAbove: number
  readonly isWindows: boolean
}

async function findChange(before: string, after: string, turn: WorkTurn): Promise<Change> {
  const shorter = Math.min(before.length, after.length)
  const prefix = await sameLength(
    shorter,
    (at, length) => before.slice(at, at + length) === after.slice(at, at + length),
    turn,
  )
  const start = prefix === 0 ? 0 : before.lastIndexOf('\n', prefix - 1) + 1
  const suffix = await sameLength(
    shorter - start,
    (at, length) => endPart(before, at, length) === endPart(after, at, length),
    turn,
  )
  const end = afterLines(before, before.length - suffix, 1)
  const from = linesUp(before, start, CONTEXT_LINES)
  const to = afterLines(before, end, CONTEXT_LINES)
  return {
    above: before.slice(from, start),
    old: before.slice(start, end),
    now: after.slice(start, after.length - (before.length - end)),
    below: before.slice(end, to),
    linesAbove: await countLineFeedsInTurns(before, 0, from, turn),
    isWindows: hasWindowsLineEnds(before) && hasWindowsLineEnds(after),
  }
}

function endPart(text: string, at: number, length: number): string {
  const end = text.length - at
  return text.slice(end - length, end)
}

/** How far two texts are the same: in steps, then in halves of the step that differs. */
async function sameLength(
  limit: number,
  isSame: (at: number, length: number) => boolean,
  turn: WorkTurn,
): Promise<number> {
  let at = 0
  for (let step = STEP; step >= 1; step /= 2) {
    while (at + step <= limit && isSame(at, step)) {
      at += step
      if (turn.due) await turn.pause()
    }
  }
  return at
}

/** The beginning of the line so many lines above a line. */
function linesUp(text: string, start: number, lines: number): number {
  let at = start
  for (let line = 0; line < lines && at > 0; line += 1) {
    at = at === 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1
  }
  return at
}

/** Behind so many line ends. */
function afterLines(text: string, start: number, lines: number): number {
  let at = start
  for (let line = 0; line < lines; line += 1) {
    const feed = text.indexOf('\n', at)
    at = feed < 0 ? text.length : feed + 1
  }
  return at
}

/** Undefined when the texts differ too much to be compared within the time. */
async function comparedHunks(change: Change): Promise<string | undefined> {
  // Loaded at the first preview.
  const { structuredPatch } = await import('diff/lib/patch/create.js')
  const { above, old, now, below, linesAbove, isWindows } = change
  const patch = structuredPatch('', '', above + old + below, above + now + below, '', '', {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    timeout: MAX_COMPARE_MS,
    stripTrailingCr: isWindows,
  })
  return patch?.hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const head = hunkHead(oldStart + linesAbove, oldLines, newStart + linesAbove, newLines)
      return [head, ...lines].join('\n')
    })
    .join('\n')
}

/** A side without lines stands behind the line above it. */
function hunkHead(
  ...[oldStart, oldLines, newStart, newLines]: readonly [number, number, number, number]
): string {
  return `@@ -${placeOf(oldStart, oldLines)} +${placeOf(newStart, newLines)} @@`
}

function placeOf(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`
}

/** All old lines, then all new ones. */
async function blockHunk(change: Change, turn: WorkTurn): Promise<string> {
  const { above, old, now, below, linesAbove } = change
  const around = countLines(above) + countLines(below)
  const counts = [await countLinesInTurns(old, turn), await countLinesInTurns(now, turn)] as const
  const start = linesAbove + 1
  return [
    hunkHead(start, around + counts[0], start, around + counts[1]),
    ...signed(' ', above, change),
    ...signed('-', old, change),
    ...signed('+', now, change),
    ...signed(' ', below, change),
  ].join('\n')
}

function isShortened({ above, old, now, below }: Change): boolean {
  return [above, old, now, below].some(({ length }) => length > MAX_SIDE_CHARACTERS)
}

function signed(sign: string, text: string, { isWindows }: Change): string[] {
  if (text === '') return []
  const shown = text.slice(0, MAX_SIDE_CHARACTERS)
  const lines = (shown.endsWith('\n') ? shown.slice(0, -1) : shown).split('\n')
  const shownLines = lines.map((line) => sign + (isWindows ? line.replace(/\r$/, '') : line))
  if (shown.length < text.length) return [...shownLines, `${sign}[more lines]`]
  return text.endsWith('\n') ? shownLines : [...shownLines, '\\ No newline at end of file']
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

async function countLinesInTurns(text: string, turn: WorkTurn): Promise<number> {
  const feeds = await countLineFeedsInTurns(text, 0, text.length, turn)
  return feeds + (text === '' || text.endsWith('\n') ? 0 : 1)
}
