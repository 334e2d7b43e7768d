import type { GrepMatch, GrepOptions, GrepResult } from '../contract.ts'
import { compareCodePoints } from '../path/path.ts'

/** Matches of one `grep` of a file system, when the call does not say. */
export const DEFAULT_MAX_RESULTS = 1000
const DEFAULT_MAX_FILE_MB = 10
const BYTES_PER_MB = 1_048_576
/** Characters of all lines of a result, context included; a line counts as at least so many. */
const MAX_CHARACTERS = 8_000_000
const LINE_COST = 64

/**
 * Gathers the result of one search over many files.
 *
 * The search continues until one match more than `maxResults` has been seen: only then is `full`
 * true. So the count is exact, also when there are just as many matches as wanted, and with
 * `maxResults: 0` the result says whether there is a match at all. `countIsComplete` is false
 * when it is full, and when files were skipped. Lines of 8,000,000 characters together make it full
 * as well, context and 64 for each line included.
 */
export class GrepCollector {
  /** Lines of context wanted around a match. */
  readonly context: number
  /** Larger files are reported with `skipLarge` instead of being searched. */
  readonly maxFileBytes: number
  readonly #maxResults: number
  readonly #matches: GrepMatch[] = []
  readonly #skipped: string[] = []
  readonly #skippedBinary: string[] = []
  #full = false
  #characters = 0

  constructor(options: GrepOptions) {
    this.context = wholeNumber(options.context, 0)
    this.maxFileBytes = (options.maxGrepFileSizeMb ?? DEFAULT_MAX_FILE_MB) * BYTES_PER_MB
    this.#maxResults = wholeNumber(options.maxResults, DEFAULT_MAX_RESULTS)
  }

  /** There are more matches than wanted: stop. */
  get full(): boolean {
    return this.#full
  }

  /** Adds a match; the one that is too many only makes it full. */
  add(match: GrepMatch): void {
    const hasRoom = this.#matches.length < this.#maxResults && this.#characters < MAX_CHARACTERS
    if (!hasRoom) {
      this.#full = true
      return
    }
    this.#matches.push(match)
    this.#characters += costOf(match)
  }

  skipLarge(path: string): void {
    this.#skipped.push(path)
  }

  /** A directory past the limits of depth or length of paths is not entered. */
  skipDeep(directory: string): void {
    this.#skipped.push(directory)
  }

  /** Lines of this file were too long to be searched as a whole, and nothing was found. */
  skipLongLines(path: string): void {
    if (this.#skipped.at(-1) !== path) this.#skipped.push(path)
  }

  skipBinary(path: string): void {
    this.#skippedBinary.push(path)
  }

  result(): GrepResult {
    return {
      matches: sortedByPath(this.#matches),
      skippedPaths: this.#skipped.toSorted(compareCodePoints),
      skippedBinaryPaths: this.#skippedBinary.toSorted(compareCodePoints),
      countIsComplete: !this.#full && this.#skipped.length + this.#skippedBinary.length === 0,
    }
  }
}

function costOf({ line, before = [], after = [] }: GrepMatch): number {
  return [line, ...before, ...after].reduce((sum, one) => sum + one.length + LINE_COST, 0)
}

/** Within a file matches are in order already, and sorting keeps that. */
function sortedByPath(matches: GrepMatch[]): GrepMatch[] {
  const isSorted = matches.every((match, index) => {
    const previous = matches[index - 1]
    return previous === undefined || compareCodePoints(previous.path, match.path) <= 0
  })
  return isSorted ? matches : matches.toSorted((a, b) => compareCodePoints(a.path, b.path))
}

function wholeNumber(value: number | undefined, fallback: number): number {
  if (value === undefined || Number.isNaN(value)) return fallback
  return Math.max(0, Math.floor(value))
}
