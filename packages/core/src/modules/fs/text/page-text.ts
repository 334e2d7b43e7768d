import { resultLimits } from '../result-limits.ts'
import type { Page } from './line-pager.ts'

/** Stands between the number of a line and its text. */
const ARROW = '→'
/** Takes the place of the number before the rest of a long line. */
const CONTINUED = '…'

const BYTE_ORDER_MARK = 0xfeff
const CARRIAGE_RETURN = 13

/** The lines of a page, numbered. Line ends and a byte order mark are left out. */
export function numberLines(page: Page): string {
  const { content, firstLine } = page
  const labels = lineLabels(page)
  let text = ''
  let line = firstLine
  let start = firstLine === 1 && content.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
  while (start < content.length) {
    const feed = content.indexOf('\n', start)
    const end = feed < 0 ? content.length : feed
    text += labels(line) + shownLine(content, start, end)
    line += 1
    start = end + 1
  }
  return text
}

/** Every file has a line 1: labels of the first lines are kept, by width, then by line. */
const keptLabels: string[][] = []
const MAX_KEPT_LINE = 2_000

/** Makes the prefix of a line. */
function lineLabels(page: Page): (line: number) => string {
  const width = String(page.lastLine).length
  const cutLine = page.firstColumn > 1 ? page.firstLine : 0
  const kept = (keptLabels[width] ??= [])
  return (line) => {
    if (line === cutLine) return CONTINUED.padStart(width) + ARROW
    if (line > MAX_KEPT_LINE) return String(line).padStart(width) + ARROW
    return (kept[line] ??= String(line).padStart(width) + ARROW)
  }
}

function shownLine(content: string, start: number, end: number): string {
  const hasFeed = end < content.length
  const hasReturn = hasFeed && end > start && content.charCodeAt(end - 1) === CARRIAGE_RETURN
  const isShort = end - start <= resultLimits.lineCharacters
  // The usual line is one slice, its line feed included.
  if (isShort && hasFeed && !hasReturn) return content.slice(start, end + 1)
  const line = content.slice(start, hasReturn ? end - 1 : end)
  return isShort ? `${line}\n` : split(line)
}

/** A long line in pieces; the pieces after the first have a mark where the number would be. */
function split(line: string): string {
  let text = ''
  for (let start = 0; start < line.length;) {
    const end = endOfPiece(line, start + resultLimits.lineCharacters)
    text += `${start === 0 ? '' : CONTINUED + ARROW}${line.slice(start, end)}\n`
    start = end
  }
  return text
}

/** Not between the halves of a surrogate pair. */
function endOfPiece(line: string, end: number): number {
  const unit = line.charCodeAt(end - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end
}
