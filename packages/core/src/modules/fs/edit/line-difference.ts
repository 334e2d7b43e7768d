import { withoutLineEnd } from '../text/line-endings.ts'

/** A line that is longer is compared up to here. */
const MAX_COMPARED = 2000
const MAX_SHOWN = 30

/** Lines of a file, with their ends, and the index at which the other lines should stand. */
export interface FileLines {
  readonly lines: readonly string[]
  readonly start: number
  /** The file has more lines than these. */
  readonly isCut: boolean
}

/** Lines that were looked for, with their ends. */
export interface WantedLines {
  readonly lines: readonly string[]
  /** What the message calls them. */
  readonly name: string
  /** They may begin and end within a line. */
  readonly isPart: boolean
}

/** Leaves out of a line what does not count. */
type Plain = (line: string) => string

/** Kinds of differences that cannot be seen, each with what makes it go away. */
const KINDS: readonly (readonly [Plain, string])[] = [
  [withoutLineEnd, 'Only line ends differ.'],
  [(line) => line.replace('\uFEFF', ''), 'Only the byte order mark differs.'],
  [(line) => line.trimEnd(), 'Only blanks or line ends at the ends of lines differ.'],
  [(line) => line.replace(/\s+/g, ''), 'Only blanks differ.'],
  [(line) => line.normalize('NFC'), 'Only the Unicode form of a letter differs.'],
  [(line) => line.normalize('NFKC').replace(/\s+/g, ''), 'Only look-alike characters differ.'],
]

/**
 * Names the first difference in one or two sentences: the line, the column and both characters, so
 * that texts that look the same can be distinguished. Empty when there is none.
 *
 * @param linesAbove Lines of the file that stand in front of the given ones.
 */
export function describeDifference(file: FileLines, wanted: WantedLines, linesAbove = 0): string {
  const at = wanted.lines.findIndex(
    (_line, index) => !isSameLine(file, wanted, index, (text) => text),
  )
  if (at < 0) return ''
  const line = file.lines[file.start + at]
  const number = linesAbove + file.start + at + 1
  if (line === undefined) {
    if (file.isCut) return ''
    return `The file ends before line ${number}; ${wanted.name} goes on with ${show(wanted, at, 0)}.`
  }
  const column = differentColumn(line, wanted.lines[at] ?? '')
  const kind = KINDS.find(([plain]) =>
    wanted.lines.every((_line, index) => isSameLine(file, wanted, index, plain)),
  )
  const inFile = show({ ...wanted, lines: [line] }, 0, column.inFile)
  const has = `the file has ${inFile}, ${wanted.name} has ${show(wanted, at, column.inWanted)}`
  const first = `First difference: line ${number}, column ${column.inFile + 1}: ${has}.`
  return kind === undefined ? first : `${kind[1]} ${first}`
}

function isSameLine(file: FileLines, wanted: WantedLines, index: number, plain: Plain): boolean {
  const line = file.lines[file.start + index]
  if (line === undefined) return false
  const has = plain(line.slice(0, MAX_COMPARED))
  const text = plain((wanted.lines[index] ?? '').slice(0, MAX_COMPARED))
  if (has === text || !wanted.isPart) return has === text
  const isFirst = index === 0
  const isLast = index === wanted.lines.length - 1
  if (isFirst && isLast) return has.includes(text)
  return (isFirst && has.endsWith(text)) || (isLast && has.startsWith(text))
}

/** Where a text begins within a line that holds it, blanks around it aside. */
function offsetIn(line: string, text: string): number {
  const core = text.trim().slice(0, 100)
  const place = core === '' ? -1 : line.indexOf(core)
  if (place < 0) return 0
  return Math.max(0, place - (text.length - text.trimStart().length))
}

function differentColumn(
  line: string,
  wanted: string,
): { readonly inFile: number; readonly inWanted: number } {
  const offset = line.startsWith(wanted[0] ?? '') ? 0 : offsetIn(line, wanted)
  let i = 0
  while (i < wanted.length && i + offset < line.length && line[i + offset] === wanted[i]) i += 1
  return { inFile: i + offset, inWanted: i }
}

/** What stands at a place: the code point of what cannot be seen, else the text from there on. */
function show({ lines, isPart }: WantedLines, index: number, column: number): string {
  const line = lines[index] ?? ''
  const rest = line.slice(column, column + MAX_SHOWN)
  if (rest === '') return isPart ? 'its end, without a line end' : 'the end of the line'
  if (rest.startsWith('\r\n')) return 'a CRLF line end'
  if (rest.startsWith('\n')) return 'an LF line end'
  const point = rest.codePointAt(0) ?? 0
  const name = NAMES[point]
  if (name !== undefined) return `${name} (${codeOf(point)})`
  const text = JSON.stringify(withoutLineEnd(line.slice(wordAt(line, column), column + MAX_SHOWN)))
  return /^[!-~]/.test(rest) ? text : `${text} (${codeOf(point)})`
}

/** Where the word around a place begins, when it is near. */
function wordAt(line: string, column: number): number {
  const min = Math.max(0, column - MAX_SHOWN)
  let start = column
  while (start > min && /\S/.test(line[start - 1] ?? '')) start -= 1
  return start
}

function codeOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}

const NAMES: Readonly<Record<number, string>> = {
  0x09: 'a tab',
  0x0d: 'a carriage return',
  0x20: 'a blank',
  0xa0: 'a no-break space',
  0x200b: 'a zero-width space',
  0xfeff: 'a byte order mark',
}
