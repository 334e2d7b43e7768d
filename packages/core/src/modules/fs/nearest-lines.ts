import { splitLines } from './line-endings.ts'

/** How much of a large file is looked at, and how much of a long line is compared and shown. */
const MAX_LINES = 20_000
const MAX_TEXT = 2_000_000
const MAX_COMPARED = 200
const MAX_SHOWN_LINES = 8
/** Share of pairs of letters that must be the same. */
const LEAST_LIKENESS = 0.5

/**
 * Shows the place of a text that comes nearest to what was looked for, with blanks made visible:
 * most failed edits differ in indentation only. For error messages; costs a pass over the text.
 */
export function describeNearest(text: string, wanted: string): string {
  const lines = splitLines(text.slice(0, MAX_TEXT)).slice(0, MAX_LINES)
  const wantedLines = splitLines(wanted)
  const anchor = wantedLines.findIndex((line) => line.trim() !== '')
  const key = wantedLines[anchor]
  const found = key === undefined ? -1 : nearestLine(lines, key)
  if (found < 0) return 'No line of the file is like it: read the file again.'
  const start = Math.max(0, found - anchor)
  const shown = lines.slice(start, start + Math.min(wantedLines.length, MAX_SHOWN_LINES))
  return [
    'oldText must match the file exactly. The nearest lines (· is a blank, → a tab):',
    ...shown.map((line, index) => `  line ${start + index + 1}: ${visible(line)}`),
    'What was looked for:',
    ...wantedLines.slice(0, MAX_SHOWN_LINES).map((line) => `  ${visible(line)}`),
  ].join('\n')
}

/** A line that differs in blanks only, else the one that shares most letter pairs. */
function nearestLine(lines: readonly string[], key: string): number {
  const plain = withoutBlanks(key)
  const same = lines.findIndex((line) => withoutBlanks(line) === plain)
  if (same >= 0) return same
  const holds = lines.findIndex((line) => plain.length > 3 && withoutBlanks(line).includes(plain))
  if (holds >= 0) return holds
  const pairs = letterPairs(key)
  const likeness = lines.map((line) => likenessOf(pairs, letterPairs(line)))
  const best = likeness.reduce((top, value) => Math.max(top, value), 0)
  return best >= LEAST_LIKENESS ? likeness.indexOf(best) : -1
}

function withoutBlanks(line: string): string {
  return line.slice(0, MAX_COMPARED * 10).replace(/\s+/g, '')
}

function letterPairs(line: string): Set<string> {
  const text = line.trim().slice(0, MAX_COMPARED).toLowerCase()
  const pairs = new Set<string>()
  for (let i = 0; i + 1 < text.length; i += 1) pairs.add(text.slice(i, i + 2))
  return pairs
}

/** Twice the shared pairs by all pairs: 1 for the same, 0 for nothing in common. */
function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return (2 * shared) / (a.size + b.size)
}

function visible(line: string): string {
  const cropped = line.length > MAX_COMPARED ? `${line.slice(0, MAX_COMPARED)}…` : line
  return cropped.replace(/[ \t\r\u00A0]/g, (blank) => VISIBLE_BLANKS[blank] ?? blank)
}

const VISIBLE_BLANKS: Readonly<Record<string, string>> = {
  ' ': '·',
  '\t': '→',
  '\r': '␍',
  '\u00A0': '⍽',
}
