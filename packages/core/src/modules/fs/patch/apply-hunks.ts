import { lineEndNear } from '../text/line-endings.ts'
import type { FileLines, PatchedFile } from './file-lines.ts'
import { overlap, wrongFileEnd } from './hunk-refusal.ts'
import type { PatchHunk, PatchLine } from './patch-model.ts'
import type { PlacedHunk } from './place-hunks.ts'

/** Lines that are replaced at one place. */
interface LineEdit {
  readonly hunk: PatchHunk
  /** First line of the file that goes, from 0; where lines are added, the one behind them. */
  readonly at: number
  readonly removed: number
  readonly added: readonly PatchLine[]
}

/**
 * The text with all hunks put in. Lines that are not changed stay byte for byte. New lines get the
 * line end of those that they replace or follow, unless the patch carries carriage returns itself.
 *
 * @throws {ToolInputError} `patch-failed` when hunks overlap, or when what they say of the end of
 * the file is not so.
 */
export function applyHunks(
  file: PatchedFile,
  placed: readonly PlacedHunk[],
  hasReturns: boolean,
): string {
  const { lines } = file
  const edits = placed.flatMap(editsOf).toSorted((a, b) => a.at - b.at || a.removed - b.removed)
  rejectOverlap(file, placed, edits)
  for (const one of placed) rejectWrongEnd(file, one, edits)
  const pieces: string[] = []
  let from = 0
  for (const [index, edit] of edits.entries()) {
    pieces.push(lines.text.slice(from, lines.startOf(edit.at)))
    const isLast = index === edits.length - 1 && edit.at + edit.removed === lines.count
    // The old last line has no end of its own, and is not the last one any more.
    const isBehindOpen = edit.at === lines.count && lines.isOpen && from < lines.text.length
    if (isBehindOpen && edit.added.length > 0) pieces.push(endAround(lines, edit))
    pieces.push(...newLines(lines, edit, { hasReturns, isLast }))
    from = lines.startOf(edit.at + edit.removed)
  }
  pieces.push(lines.text.slice(from))
  return pieces.join('')
}

function editsOf({ hunk, place }: PlacedHunk): LineEdit[] {
  const edits: LineEdit[] = []
  let at = place
  let removed = 0
  let added: PatchLine[] = []
  const close = (): void => {
    if (removed > 0 || added.length > 0) edits.push({ hunk, at: at - removed, removed, added })
    removed = 0
    added = []
  }
  for (const line of hunk.lines) {
    if (line.sign === '+') added.push(line)
    if (line.sign === ' ') close()
    if (line.sign === '-') removed += 1
    if (line.sign !== '+') at += 1
  }
  close()
  return edits
}

/** No line is removed by one hunk and needed by another, and no two add lines at one place. */
function rejectOverlap(
  file: PatchedFile,
  placed: readonly PlacedHunk[],
  edits: readonly LineEdit[],
): void {
  const removedBy = new Map<number, PatchHunk>()
  for (const [index, edit] of edits.entries()) {
    const next = edits[index + 1]
    if (next !== undefined && isTooNear(edit, next)) {
      throw overlap(file.path, next.hunk, edit.hunk, next.at)
    }
    for (let i = 0; i < edit.removed; i += 1) removedBy.set(edit.at + i, edit.hunk)
  }
  for (const { hunk, place } of placed) {
    for (const i of hunk.lines.filter((line) => line.sign !== '+').keys()) {
      const other = removedBy.get(place + i) ?? hunk
      if (other !== hunk) throw overlap(file.path, hunk, other, place + i)
    }
  }
}

function isTooNear(edit: LineEdit, next: LineEdit): boolean {
  if (next.hunk === edit.hunk) return false
  const isSamePlace = next.at === edit.at && next.removed === 0
  return isSamePlace || next.at < edit.at + edit.removed
}

/** Every line that the patch says to be without a line end is the last one, and is so. */
function rejectWrongEnd(
  { path, lines }: PatchedFile,
  { hunk, place }: PlacedHunk,
  edits: readonly LineEdit[],
): void {
  const last = edits.at(-1)
  let at = place
  for (const line of hunk.lines) {
    const wrong = line.isOpen ? wrongEnd(lines, line, last, at) : undefined
    if (wrong !== undefined) throw wrongFileEnd(path, hunk, wrong)
    if (line.sign !== '+') at += 1
  }
}

/** Why a line cannot be without a line end. */
function wrongEnd(
  lines: FileLines,
  line: PatchLine,
  last: LineEdit | undefined,
  at: number,
): string | undefined {
  if (line.sign === '+') {
    const isLast = last?.added.at(-1) === line && last.at + last.removed === lines.count
    return isLast ? undefined : 'a line is to have no line end, and lines of the file follow it'
  }
  if (at !== lines.count - 1 || !lines.isOpen) {
    return `line ${at + 1} of the file is not a last line without a line end`
  }
  const isFollowed = line.sign === ' ' && last?.at === lines.count
  return isFollowed ? 'lines are added behind a line that is to have no line end' : undefined
}

interface LineStyle {
  readonly hasReturns: boolean
  /** Nothing of the file follows. */
  readonly isLast: boolean
}

function newLines(lines: FileLines, edit: LineEdit, style: LineStyle): string[] {
  const { added } = edit
  const end = endAround(lines, edit)
  const text = added.map(
    (line) => line.text + (style.hasReturns ? (line.hasReturn ? '\r\n' : '\n') : end),
  )
  if (!style.isLast || added.length === 0) return text
  const last = added.length - 1
  const isOpen = added[last]?.isOpen === true || keepsOpen(lines, edit)
  if (isOpen) text[last] = (text[last] ?? '').replace(style.hasReturns ? /\n$/ : /\r?\n$/, '')
  return text
}

/** Where the patch says nothing of it, a file without a last line end stays one. */
function keepsOpen(lines: FileLines, { hunk }: LineEdit): boolean {
  return lines.isOpen && !hunk.lines.some((line) => line.isOpen)
}

/** The line end of the first line that goes, else of the line above, else of the file. */
function endAround(lines: FileLines, { at, removed }: LineEdit): string {
  const near = [...(removed > 0 ? [at] : []), at - 1, at]
  for (const index of near) {
    const end = index < 0 || index >= lines.count ? '' : lines.endOf(index)
    if (end.endsWith('\n')) return end
  }
  return lineEndNear(lines.text, lines.startOf(at)) ?? '\n'
}
