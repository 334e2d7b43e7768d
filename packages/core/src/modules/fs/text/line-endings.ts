import type { WorkTurn } from '../edit/work-turn.ts'

/** Characters that are counted in one synchronous stretch. */
const WINDOW = 65_536

/** Characters that are converted at once: longer lists of pieces outlive a scavenge. */
const CONVERTED = 8192

export type LineEnd = '\n' | '\r\n'

/** Whether the first line of a text ends with CRLF. */
export function hasWindowsLineEnds(text: string): boolean {
  const end = text.indexOf('\n')
  return end > 0 && text[end - 1] === '\r'
}

/** Turns bare line feeds into CRLF and leaves CRLF as it is. */
export function toWindowsLineEnds(text: string): string {
  if (!text.includes('\n')) return text
  return toUnixLineEnds(text).split('\n').join('\r\n')
}

/** Turns CRLF into bare line feeds. A carriage return alone is text. */
export function toUnixLineEnds(text: string): string {
  // Not `replace`: V8 then makes a tree with a node for each line end, which is costly to collect.
  return text.includes('\r\n') ? text.split('\r\n').join('\n') : text
}

/** Gives all lines of a text the same end. */
export function toLineEnds(text: string, end: LineEnd): string {
  return end === '\n' ? toUnixLineEnds(text) : toWindowsLineEnds(text)
}

/** The same for a long text; yields to other work. */
export async function toLineEndsInTurns(
  text: string,
  end: LineEnd,
  turn: WorkTurn,
): Promise<string> {
  const chunks: string[] = []
  for (let start = 0; start < text.length;) {
    let stop = Math.min(text.length, start + CONVERTED)
    // What ends a line is not cut in two.
    while (text[stop - 1] === '\r' && stop < text.length) stop += 1
    chunks.push(toLineEnds(text.slice(start, stop), end))
    start = stop
    if (turn.due) await turn.pause()
  }
  return chunks.join('')
}

/** The end of the line that holds a place, or of the line before; undefined in a single line. */
export function lineEndNear(text: string, place: number): LineEnd | undefined {
  const next = text.indexOf('\n', place)
  const end = next >= 0 || place === 0 ? next : text.lastIndexOf('\n', place - 1)
  if (end < 0) return undefined
  return text[end - 1] === '\r' ? '\r\n' : '\n'
}

/** Number of line feeds in a part of a text. Costs that part only. */
export function countLineFeeds(text: string, from: number, to: number): number {
  const part = text.slice(from, to)
  let count = 0
  for (let i = part.indexOf('\n'); i >= 0; i = part.indexOf('\n', i + 1)) count += 1
  return count
}

/** The same for a long part; yields to other work. */
export async function countLineFeedsInTurns(
  text: string,
  from: number,
  to: number,
  turn: WorkTurn,
): Promise<number> {
  let count = 0
  for (let start = from; start < to; start += WINDOW) {
    count += countLineFeeds(text, start, Math.min(to, start + WINDOW))
    if (turn.due) await turn.pause()
  }
  return count
}

/** The lines of a text with their ends. */
export function splitLinesKeepingEnds(text: string, maxLines = Infinity): string[] {
  const lines: string[] = []
  for (let start = 0; start < text.length && lines.length < maxLines;) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed + 1
    lines.push(text.slice(start, end))
    start = end
  }
  return lines
}

/** A line without its end. */
export function withoutLineEnd(line: string): string {
  if (!line.endsWith('\n')) return line
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1)
}
