import { countLineFeedsInTurns } from '../text/line-endings.ts'
import type { WorkTurn } from '../edit/work-turn.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** The lines of a text by their places, without a copy of each. */
export class FileLines {
  readonly text: string
  readonly #starts: Int32Array

  constructor(text: string, starts: Int32Array) {
    this.text = text
    this.#starts = starts
  }

  get count(): number {
    return this.#starts.length - 1
  }

  /** Where a line begins; for the line behind the last one, where the text ends. */
  startOf(index: number): number {
    return this.#starts[Math.min(index, this.count)] ?? 0
  }

  /** A line without its end. */
  contentOf(index: number): string {
    return this.text.slice(this.startOf(index), this.#contentEnd(index))
  }

  /** What ends a line: empty for a last line without a line feed. */
  endOf(index: number): string {
    return this.text.slice(this.#contentEnd(index), this.startOf(index + 1))
  }

  lengthOf(index: number): number {
    return this.#contentEnd(index) - this.startOf(index)
  }

  equals(index: number, text: string): boolean {
    if (index < 0 || index >= this.count || this.lengthOf(index) !== text.length) return false
    return this.text.startsWith(text, this.startOf(index))
  }

  /** Whether the last line has no line feed. */
  get isOpen(): boolean {
    return this.count > 0 && !this.text.endsWith('\n')
  }

  #contentEnd(index: number): number {
    let end = this.startOf(index + 1)
    const start = this.startOf(index)
    if (end > start && this.text.charCodeAt(end - 1) === LINE_FEED) end -= 1
    return end > start && this.text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
  }
}

/** A file that hunks are put into. */
export interface PatchedFile {
  readonly path: string
  readonly lines: FileLines
  readonly turn: WorkTurn
}

/**
 * Finds the lines of a text, and yields to other work.
 * @param keepsMark A byte order mark belongs to the first line; else it stands in front of it.
 */
export async function indexLines(
  text: string,
  keepsMark: boolean,
  turn: WorkTurn,
): Promise<FileLines> {
  const first = !keepsMark && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  const feeds = await countLineFeedsInTurns(text, first, text.length, turn)
  const count = text.length === first ? 0 : feeds + (text.endsWith('\n') ? 0 : 1)
  const starts = new Int32Array(count + 1)
  starts[0] = first
  let start = first
  for (let i = 1; i < count; i += 1) {
    start = text.indexOf('\n', start) + 1
    starts[i] = start
    if (i % 1024 === 0 && turn.due) await turn.pause()
  }
  starts[count] = text.length
  return new FileLines(text, starts)
}
