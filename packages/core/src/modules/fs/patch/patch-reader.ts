import { countLineFeeds } from '../text/line-endings.ts'
import { patchFailed } from './patch-model.ts'

const MAX_LINES = 50_000
const MAX_SHOWN = 120

/** The lines of a patch, each taken once, in order. What cannot be taken rejects the patch. */
export class PatchReader {
  readonly #lines: readonly string[]
  /** Lines carry carriage returns of the files, and not those of the patch itself. */
  readonly hasReturns: boolean
  #at = 0

  /** @throws {ToolInputError} `patch-failed` when there are too many lines. */
  constructor(patch: string) {
    if (countLineFeeds(patch, 0, patch.length) > MAX_LINES) {
      throw patchFailed(
        `the patch has more than ${MAX_LINES} lines`,
        'Send it in several calls, some files or hunks at a time.',
      )
    }
    const lines = patch
      .replace(/^\uFEFF/, '')
      .replace(/\n$/, '')
      .split('\n')
    const isSentWithReturns = lines.some((line) => HEADER.test(line))
    this.#lines = isSentWithReturns ? lines.map((line) => line.replace(/\r$/, '')) : lines
    this.hasReturns = this.#lines.some((line) => line.endsWith('\r') && /^[ +-]/.test(line))
  }

  /** Index of the next line. */
  get at(): number {
    return this.#at
  }

  get isDone(): boolean {
    return this.#at >= this.#lines.length
  }

  /** The next line, without being taken; empty behind the end. */
  get next(): string {
    return this.lineAt(this.#at)
  }

  lineAt(index: number): string {
    return this.#lines[index] ?? ''
  }

  has(index: number): boolean {
    return index < this.#lines.length
  }

  take(): string {
    const line = this.next
    this.#at += 1
    return line
  }

  /** Takes blank lines. */
  skipBlank(): void {
    while (!this.isDone && this.next.trim() === '') this.#at += 1
  }

  /** Index of the first line from here on that is not blank. */
  nextText(from: number = this.#at): number {
    let index = from
    while (index < this.#lines.length && this.lineAt(index).trim() === '') index += 1
    return index
  }

  /** Names the next line in a message. */
  describeNext(): string {
    return describeLine(this.#at, this.next)
  }
}

/** A line of the patch in a message. */
export function describeLine(index: number, line: string): string {
  const text = line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
  return `line ${index + 1} of the patch (${JSON.stringify(text)})`
}

/** A header with the carriage return of a patch that has CRLF itself; no line of a hunk looks like it. */
const HEADER = /^(?:@@|\*\*\* |diff ).*\r$/
