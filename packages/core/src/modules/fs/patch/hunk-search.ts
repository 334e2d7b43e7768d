import { ToolInputError } from '../../../errors/tool-input-error.ts'
import type { WorkTurn } from '../edit/work-turn.ts'
import type { FileLines } from './file-lines.ts'
import { oldLinesOf, type PatchHunk } from './patch-model.ts'

/** Places that are found of one hunk, and named when they are too many. */
export const MAX_PLACES = 20
/** Lines of a file times hunks that are looked for in it. */
const MAX_STEPS = 200_000_000
/** Lines that are compared in one synchronous stretch. */
const WINDOW = 65_536

/**
 * All places where hunks fit into a file. Each distinct line of the hunks gets a number, and the
 * file becomes a row of numbers, in one pass; a hunk is then found in time that is linear in the
 * lines of the file, whatever they hold.
 */
export class HunkSearch {
  readonly #lines: FileLines
  readonly #hunks: readonly PatchHunk[]
  readonly #turn: WorkTurn
  #numbers: Promise<NumberedLines> | undefined
  #steps = 0

  constructor(lines: FileLines, hunks: readonly PatchHunk[], turn: WorkTurn) {
    this.#lines = lines
    this.#hunks = hunks
    this.#turn = turn
  }

  /** Whether the old lines of a hunk stand at a line, counted from 0. */
  fits(hunk: PatchHunk, index: number): boolean {
    return oldLinesOf(hunk).every((line, i) => this.#lines.equals(index + i, line.text))
  }

  /**
   * The first places of a hunk with old lines, counted from 0: at most one more than are named.
   * @param accepts Leaves places out. Default: all count.
   * @throws {ToolInputError} `patch-failed` when so many hunks in so large a file take too long.
   */
  async places(hunk: PatchHunk, accepts: Accepts = () => true): Promise<number[]> {
    this.charge(this.#lines.count)
    this.#numbers ??= numberLines(this.#lines, this.#hunks, this.#turn)
    const { ofText, ofLine } = await this.#numbers
    const wanted = oldLinesOf(hunk).map((line) => ofText.get(line.text) ?? -1)
    const row = new RowSearch(ofLine, Int32Array.from(wanted), accepts)
    return findRow(row, ofLine.length, this.#turn)
  }

  /**
   * Counts lines that are read to place hunks; all hunks of a file share one limit.
   * @throws {ToolInputError} `patch-failed` when it is reached.
   */
  charge(lines: number): void {
    this.#steps += lines
    if (this.#steps > MAX_STEPS) throw tooMuchWork()
  }
}

type Accepts = (place: number) => boolean

interface NumberedLines {
  readonly ofText: ReadonlyMap<string, number>
  /** For each line of the file the number of its text; 0 for a text of no hunk. */
  readonly ofLine: Int32Array
}

async function numberLines(
  lines: FileLines,
  hunks: readonly PatchHunk[],
  turn: WorkTurn,
): Promise<NumberedLines> {
  const ofText = new Map<string, number>()
  const lengths = new Set<number>()
  for (const { text } of hunks.flatMap(oldLinesOf)) {
    if (!ofText.has(text)) ofText.set(text, ofText.size + 1)
    lengths.add(text.length)
  }
  const ofLine = new Int32Array(lines.count)
  for (let i = 0; i < lines.count; i += 1) {
    if (lengths.has(lines.lengthOf(i))) ofLine[i] = ofText.get(lines.contentOf(i)) ?? 0
    if (i % 256 === 0 && turn.due) await turn.pause()
  }
  return { ofText, ofLine }
}

/** Where a row of numbers stands in a longer one; overlapping places count. */
async function findRow(search: RowSearch, length: number, turn: WorkTurn): Promise<number[]> {
  for (let from = 0; from < length && search.places.length <= MAX_PLACES; from += WINDOW) {
    if (turn.due) await turn.pause()
    search.scan(from, Math.min(length, from + WINDOW))
  }
  return search.places
}

/** Knuth, Morris and Pratt: no number of the row is read twice. */
class RowSearch {
  /** At most one more than are named. */
  readonly places: number[] = []
  readonly #row: Int32Array
  readonly #wanted: Int32Array
  readonly #borders: Int32Array
  readonly #accepts: Accepts
  #matched = 0

  constructor(row: Int32Array, wanted: Int32Array, accepts: Accepts) {
    this.#row = row
    this.#accepts = accepts
    this.#wanted = wanted
    this.#borders = new Int32Array(wanted.length)
    let border = 0
    for (let i = 1; i < wanted.length; i += 1) {
      border = this.#step(border, wanted[i] ?? 0)
      this.#borders[i] = border
    }
  }

  scan(from: number, to: number): void {
    let matched = this.#matched
    for (let i = from; i < to && this.places.length <= MAX_PLACES; i += 1) {
      matched = this.#step(matched, this.#row[i] ?? 0)
      if (matched < this.#wanted.length) continue
      if (this.#accepts(i + 1 - matched)) this.places.push(i + 1 - matched)
      matched = this.#borders[matched - 1] ?? 0
    }
    this.#matched = matched
  }

  /** How much of the wanted row stands at the end of what was read, with one more number. */
  #step(before: number, number: number): number {
    let matched = before
    while (matched > 0 && this.#wanted[matched] !== number)
      matched = this.#borders[matched - 1] ?? 0
    return this.#wanted[matched] === number ? matched + 1 : matched
  }
}

function tooMuchWork(): ToolInputError {
  return new ToolInputError(
    'patch-failed',
    'the patch has too many hunks without exact line numbers for so large a file; nothing was changed',
    { hint: 'Send fewer hunks in one call, or give the right line numbers in the @@ headers.' },
  )
}
