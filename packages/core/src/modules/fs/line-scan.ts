import type { GrepMatch } from './contract.ts'
import type { GrepCollector } from './grep-collector.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BYTE_ORDER_MARK = 0xfeff

/** How the lines of a text are tested. At least one of the first two is there. */
export interface LineSearch {
  /** Next place of the required literal from an index on, or -1: only lines with one are tested. */
  readonly nextLiteral?: (text: string, from: number) => number
  /** Absent: a line with the literal matches. */
  readonly testLine?: (line: string) => boolean
  /** False when no line of this text can match: one pass instead of one test a line. */
  readonly mayMatchText?: (text: string) => boolean
}

export interface ScannedText {
  readonly path: string
  readonly text: string
  readonly collector: GrepCollector
}

/** Adds the lines that match to the collector, until it is full. Never splits the text. */
export function scanLines(search: LineSearch, scanned: ScannedText): void {
  const { text, collector } = scanned
  const nextCandidate = candidates(search, text)
  let lineNumber = 0
  let start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
  while (start < text.length && !collector.full) {
    const target = nextCandidate(text, start)
    if (target < 0) return
    let end = lineEnd(text, start)
    lineNumber += 1
    while (end < target) {
      start = end + 1
      end = lineEnd(text, start)
      lineNumber += 1
    }
    const line = text.slice(start, contentEnd(text, start, end))
    if (isMatch(search, line)) collector.add(toMatch(scanned, { line, lineNumber, start, end }))
    start = end + 1
  }
}

/** Finds the next place whose line is worth a test. */
function candidates(search: LineSearch, text: string): (text: string, from: number) => number {
  if (search.nextLiteral !== undefined) return search.nextLiteral
  const isHopeless = search.mayMatchText?.(text) === false
  return (_text, from) => (isHopeless ? -1 : from)
}

function isMatch(search: LineSearch, line: string): boolean {
  // The literal may reach into the line end: look again in the line alone.
  if (search.testLine !== undefined) return search.testLine(line)
  return search.nextLiteral !== undefined && search.nextLiteral(line, 0) >= 0
}

interface FoundLine {
  readonly line: string
  readonly lineNumber: number
  readonly start: number
  readonly end: number
}

function toMatch(scanned: ScannedText, found: FoundLine): GrepMatch {
  const { path, text, collector } = scanned
  const { line, lineNumber, start, end } = found
  if (collector.context === 0) return { path, lineNumber, line }
  return {
    path,
    lineNumber,
    line,
    before: linesBefore(text, start, collector.context),
    after: linesAfter(text, end, collector.context),
  }
}

function linesBefore(text: string, start: number, count: number): string[] {
  const lines: string[] = []
  let next = start
  while (lines.length < count && next > 0 && text.charCodeAt(next - 1) === LINE_FEED) {
    const end = next - 1
    next = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1
    const from = next === 0 && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : next
    lines.push(text.slice(from, contentEnd(text, from, end)))
  }
  return lines.toReversed()
}

function linesAfter(text: string, end: number, count: number): string[] {
  const lines: string[] = []
  let start = end + 1
  while (lines.length < count && start < text.length) {
    const next = lineEnd(text, start)
    lines.push(text.slice(start, contentEnd(text, start, next)))
    start = next + 1
  }
  return lines
}

/** Index of the line feed that ends the line, or of the end of the text. */
function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Leaves out the carriage return before a line feed. */
function contentEnd(text: string, start: number, end: number): number {
  const hasReturn = end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN && end < text.length
  return hasReturn ? end - 1 : end
}
