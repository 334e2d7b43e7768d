import type { GrepMatch, GrepOptions, GrepResult } from './contract.ts'
import { compareCodePoints } from './path.ts'

const DEFAULT_MAX_RESULTS = 1000
const DEFAULT_MAX_FILE_MB = 10
const BYTES_PER_MB = 1_048_576

/**
 * Gathers the result of one search over many files.
 *
 * The search goes on until one match more than `maxResults` has been seen: only then is `full`
 * true. So the count is exact, also when there are just as many matches as wanted, and with
 * `maxResults: 0` the result says whether there is a match at all. `countIsComplete` is false
 * when it is full, and when files were skipped.
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

  constructor(options: GrepOptions) {
    this.context = wholeNumber(options.context, 0)
    this.maxFileBytes = (options.maxGrepFileSizeMb ?? DEFAULT_MAX_FILE_MB) * BYTES_PER_MB
    this.#maxResults = wholeNumber(options.maxResults, DEFAULT_MAX_RESULTS)
  }

  /** There are more matches than wanted: stop. */
  get full(): boolean {
    return this.#full
  }

  /** Adds a match; the one that is too many is only noted. */
  add(match: GrepMatch): void {
    if (this.#matches.length < this.#maxResults) this.#matches.push(match)
    else this.#full = true
  }

  skipLarge(path: string): void {
    this.#skipped.push(path)
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
