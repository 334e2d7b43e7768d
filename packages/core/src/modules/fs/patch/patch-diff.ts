import { decodeText, isBinary } from '../text/bytes.ts'
import { splitLinesKeepingEnds, withoutLineEnd } from '../text/line-endings.ts'
import type { PatchHunk, PatchLine } from './patch-model.ts'
import { type PlacedHunk, statedPlace } from './place-hunks.ts'

const MAX_LINE_CHARACTERS = 500
/** Lines of a file that is made or removed as a whole. */
const MAX_WHOLE_LINES = 60
const MAX_WHOLE_BYTES = 100_000

/** The two names in the header of a diff; undefined for `/dev/null`. */
export interface DiffNames {
  readonly from: string | undefined
  readonly to: string | undefined
  readonly isCopy?: boolean
}

/** A unified diff of what was done to one file, with its true line numbers. */
export function renderDiff(names: DiffNames, placed: readonly PlacedHunk[]): string {
  const { from, to } = names
  const head = [
    ...gitLines(names),
    `--- ${from === undefined ? '/dev/null' : `a${from}`}`,
    `+++ ${to === undefined ? '/dev/null' : `b${to}`}`,
  ]
  const isTransfer = from !== undefined && to !== undefined
  if (placed.length === 0) return head.slice(0, isTransfer ? -2 : undefined).join('\n')
  const hunks: string[] = []
  let shift = 0
  for (const one of placed.toSorted((a, b) => a.place - b.place)) {
    hunks.push(renderHunk(one, shift))
    shift += countOf(one.hunk, '-') - countOf(one.hunk, '+')
  }
  return [...head, ...hunks].join('\n')
}

/** The headers of git, where a file comes, goes or gets another name. */
function gitLines({ from, to, isCopy = false }: DiffNames): string[] {
  if (from === to) return []
  const names = `diff --git a${from ?? to ?? ''} b${to ?? from ?? ''}`
  if (from === undefined || to === undefined) return [names]
  const what = isCopy ? 'copy' : 'rename'
  return [names, `${what} from ${from.slice(1)}`, `${what} to ${to.slice(1)}`]
}

function countOf(hunk: PatchHunk, leftOut: '+' | '-'): number {
  return hunk.lines.filter((line) => line.sign !== leftOut).length
}

function renderHunk({ hunk, place }: PlacedHunk, shift: number): string {
  const oldCount = countOf(hunk, '+')
  const newCount = countOf(hunk, '-')
  const oldStart = oldCount === 0 ? place : place + 1
  const newStart = newCount === 0 ? place + shift : place + shift + 1
  const isWhole = oldCount === 0 || newCount === 0
  const shown = isWhole ? hunk.lines.slice(0, MAX_WHOLE_LINES) : hunk.lines
  const hidden = hunk.lines.length - shown.length
  return [
    `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`,
    ...shown.flatMap(renderLine),
    ...(hidden > 0 ? [`[${hidden} more lines]`] : []),
  ].join('\n')
}

function renderLine({ sign, text, hasReturn, isOpen }: PatchLine): string[] {
  const line = `${sign}${crop(text)}${hasReturn ? '\r' : ''}`
  return isOpen ? [line, '\\ No newline at end of file'] : [line]
}

function crop(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line
  return `${line.slice(0, MAX_LINE_CHARACTERS)}…[${line.length} characters]`
}

/** The diff of a file that was removed without its lines being named. */
export function renderRemoval(path: string, data: Uint8Array): string {
  const names = { from: path, to: undefined }
  const isShort = data.length > 0 && data.length <= MAX_WHOLE_BYTES
  if (!isShort || isBinary(data)) return `${renderDiff(names, [])}\n[${data.length} bytes]`
  const text = splitLinesKeepingEnds(decodeText(data))
  const lines = text.map((line): PatchLine => {
    return { sign: '-', text: withoutLineEnd(line), hasReturn: false, isOpen: !line.endsWith('\n') }
  })
  const hunk = { number: 1, at: 0, isInsertion: false, isRecounted: false, scopes: [], lines }
  return renderDiff(names, [{ hunk: { ...hunk, isAtEnd: false }, place: 0 }])
}

/** What was done otherwise than the patch says. */
export function notesOn(placed: readonly PlacedHunk[]): string[] {
  return placed.flatMap(({ hunk, place }) => {
    const { number, oldStart, isRecounted } = hunk
    const isMoved = oldStart !== undefined && !hunk.isInsertion && place !== statedPlace(oldStart)
    return [
      ...(isMoved ? [`hunk ${number} was found at line ${place + 1}, not at ${oldStart}`] : []),
      ...(isRecounted
        ? [`the counts of hunk ${number} were wrong and were taken from its lines`]
        : []),
    ]
  })
}
