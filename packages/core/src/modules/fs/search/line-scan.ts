import type { GrepMatch } from '../contract.ts'
import type { GrepCollector } from './grep-collector.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BYTE_ORDER_MARK = 0xfeff

/** Characters whose line feeds are counted in about a unit of work each. */
const COUNTED_CHARACTERS = 65_536
/** A test of a line costs at least so many units. */
const UNITS_PER_LINE = 20

/** Whether a line matches, as far as that can be known. */
export type LineVerdict = 'match' | 'no-match' | 'unknown'

/** How the lines of a text are tested. */
export interface LineSearch {
  /** Characters of text that are inspected together, and the longest line that is tested whole. */
  readonly blockCharacters: number
  /** Units of work for each character of a block; one unit is about 20 ns at worst. */
  readonly unitsPerCharacter: number
  /**
   * Next place of the required literal from an index on, before another; -1 when there is none. Only
   * lines with one are tested.
   */
  readonly nextLiteral?: (text: string, from: number, to: number) => number
  /** Absent: a line with the literal matches. Yields units of work. */
  readonly testLine?: (line: string) => Generator<number, LineVerdict>
  /** False when no line of this text can match: one pass instead of one test a line. */
  readonly mayMatchText?: (text: string) => boolean
}

export interface ScannedText {
  readonly path: string
  readonly text: string
  readonly collector: GrepCollector
}

/**
 * Adds the lines that match to the collector, until it is full. Yields after each piece of work the
 * units that it took, one being about 20 ns; no piece takes more than about 30 ms.
 */
export function* scanLines(search: LineSearch, scanned: ScannedText): Generator<number, void> {
  yield* new LineScan(search, scanned).run()
}

class LineScan {
  readonly #search: LineSearch
  readonly #scanned: ScannedText
  /** Number of the line that starts at `#countedTo`. */
  #lineNumber = 1
  #countedTo = 0

  constructor(search: LineSearch, scanned: ScannedText) {
    this.#search = search
    this.#scanned = scanned
  }

  *run(): Generator<number, void> {
    const { text, collector } = this.#scanned
    const { unitsPerCharacter } = this.#search
    let start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0
    while (start < text.length && !collector.full) {
      const end = this.#blockEnd(start)
      yield Math.ceil((end - start) * unitsPerCharacter)
      if (this.#mayMatch(start, end)) yield* this.#scanBlock(start, end)
      start = end
    }
  }

  /** Behind whole lines that are together not much longer than a block; at least one line. */
  #blockEnd(start: number): number {
    const { text } = this.#scanned
    const wanted = start + this.#search.blockCharacters
    if (wanted >= text.length) return text.length
    const feed = text.lastIndexOf('\n', wanted)
    if (feed > start) return feed + 1
    return Math.min(text.length, lineEnd(text, wanted) + 1)
  }

  #mayMatch(start: number, end: number): boolean {
    const { mayMatchText, nextLiteral, blockCharacters } = this.#search
    if (nextLiteral !== undefined || mayMatchText === undefined) return true
    if (end - start > blockCharacters) return true
    return mayMatchText(this.#scanned.text.slice(start, end))
  }

  *#scanBlock(blockStart: number, blockEnd: number): Generator<number, void> {
    const { text, collector } = this.#scanned
    let start = blockStart
    while (start < blockEnd && !collector.full) {
      const hit = yield* this.#nextHit(start, blockEnd)
      if (hit < 0) return
      if (hit > start) start = text.lastIndexOf('\n', hit - 1) + 1 || start
      const end = lineEnd(text, Math.max(hit, start))
      const line = text.slice(start, contentEnd(text, end))
      const verdict = yield* this.#test(line)
      if (verdict === 'unknown') collector.skipLongLines(this.#scanned.path)
      if (verdict === 'match') yield* this.#add({ line, start, end })
      start = end + 1
    }
  }

  /** The next place whose line is worth a test. */
  *#nextHit(from: number, to: number): Generator<number, number> {
    const { nextLiteral, blockCharacters, unitsPerCharacter } = this.#search
    if (nextLiteral === undefined) return from
    for (let start = from; start < to; start += blockCharacters) {
      const end = Math.min(to, start + blockCharacters)
      const hit = nextLiteral(this.#scanned.text, start, end)
      if (hit >= 0) return hit
      if (end < to) yield Math.ceil((end - start) * unitsPerCharacter)
    }
    return -1
  }

  *#test(line: string): Generator<number, LineVerdict> {
    const { testLine } = this.#search
    if (testLine !== undefined) return yield* testLine(line)
    // The literal may reach into the line end: look again in the line alone.
    return (yield* this.#holdsLiteral(line)) ? 'match' : 'no-match'
  }

  *#holdsLiteral(line: string): Generator<number, boolean> {
    const { nextLiteral, blockCharacters, unitsPerCharacter } = this.#search
    for (let start = 0; start < line.length; start += blockCharacters) {
      const end = Math.min(line.length, start + blockCharacters)
      if ((nextLiteral?.(line, start, end) ?? -1) >= 0) return true
      yield Math.ceil((end - start) * unitsPerCharacter) + UNITS_PER_LINE
    }
    return false
  }

  *#add(found: { readonly line: string; readonly start: number; readonly end: number }) {
    yield* this.#countTo(found.start)
    const { collector } = this.#scanned
    collector.add(toMatch(this.#scanned, { ...found, lineNumber: this.#lineNumber }))
    yield UNITS_PER_LINE * (1 + collector.context)
  }

  *#countTo(index: number): Generator<number, void> {
    const { text } = this.#scanned
    while (this.#countedTo < index) {
      const stop = Math.min(index, this.#countedTo + COUNTED_CHARACTERS)
      let feed = text.indexOf('\n', this.#countedTo)
      while (feed >= 0 && feed < stop) {
        this.#lineNumber += 1
        feed = text.indexOf('\n', feed + 1)
      }
      const isLast = feed < 0
      yield stop - this.#countedTo
      this.#countedTo = isLast ? index : stop
    }
  }
}

interface FoundLine {
  readonly line: string
  readonly lineNumber: number
  readonly start: number
  readonly end: number
}

function toMatch(scanned: ScannedText, found: FoundLine): GrepMatch {
  const { path, text, collector } = scanned
  const { lineNumber, start, end } = found
  const line = ownCopy(found.line, text)
  if (collector.context === 0) return { path, lineNumber, line }
  return {
    path,
    lineNumber,
    line,
    before: linesBefore(text, start, collector.context).map((one) => ownCopy(one, text)),
    after: linesAfter(text, end, collector.context).map((one) => ownCopy(one, text)),
  }
}

/** Engines keep the whole text for as long as a slice of it is kept. */
function ownCopy(line: string, text: string): string {
  return line.length * 2 > text.length ? line : ` ${line}`.slice(1)
}
function linesBefore(text: string, start: number, count: number): string[] {
  const lines: string[] = []
  let next = start
  while (lines.length < count && next > 0 && text.charCodeAt(next - 1) === LINE_FEED) {
    const end = next - 1
    next = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1
    const from = next === 0 && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : next
    lines.push(text.slice(from, contentEnd(text, end)))
  }
  return lines.toReversed()
}

function linesAfter(text: string, end: number, count: number): string[] {
  const lines: string[] = []
  let start = end + 1
  while (lines.length < count && start < text.length) {
    const next = lineEnd(text, start)
    lines.push(text.slice(start, contentEnd(text, next)))
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
function contentEnd(text: string, end: number): number {
  const hasReturn = end < text.length && text.charCodeAt(end - 1) === CARRIAGE_RETURN
  return hasReturn ? end - 1 : end
}
