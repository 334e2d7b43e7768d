import { FileSystemError } from '../../../errors/file-system-error.ts'
import type { GrepOptions } from '../contract.ts'
import { compileGlob } from './glob.ts'
import type { GrepCollector } from './grep-collector.ts'
import { type LineSearch, type LineVerdict, scanLines } from './line-scan.ts'
import { baseName, normalizePath } from '../path/path.ts'
import { MAX_PROGRAM_SIZE, type PatternCost, patternCost } from './pattern-cost.ts'
import { matchesAcrossLines, requiredLiteralOf } from './required-literal.ts'
import { createSearchPace } from './search-pace.ts'

const MAX_PATTERN_LENGTH = 10_000

/** A compiled search; see {@link compileSearch}. */
export interface TextSearch {
  /**
   * Every file with a match contains it: look for it before decoding. At most 64 characters, since
   * engines compare a long text with every place at worst. With `ignoreCase` it stands
   * for each of its spellings under simple Unicode case folding; a prefilter may leave it out.
   */
  readonly requiredLiteral?: { readonly text: string; readonly ignoreCase: boolean }
  /** Whether a file passes `includeGlob`; the path is absolute and normalised. */
  includes(path: string): boolean
  /** Units of work, of about 20 ns at worst, for each character of a path in `includes`. */
  readonly unitsPerIncluded: number
  /**
   * Adds the matching lines of a text to the collector. Holds the event loop for a few milliseconds
   * at most: all files of a search together take turns with other work.
   *
   * @returns undefined when it is done; else a promise of its end, which rejects when the signal of
   * the options aborts. Search one file at a time.
   */
  search(path: string, text: string, collector: GrepCollector): Promise<void> | undefined
}

/** Work of one test at most, in units of about 20 ns at worst. */
const MAX_TEST_UNITS = 1_000_000
const MAX_BLOCK_CHARACTERS = 65_536
const MIN_BLOCK_CHARACTERS = 256
const MAX_PREFILTER_CHARACTERS = 64

/**
 * Compiles a search. A regular expression is RE2: linear time, no look-around and no
 * back-references; `^` and `$` are the ends of a line. A line ends at `\n`, `\r\n` counts as one;
 * a byte order mark is not part of the first line. A match never spans lines.
 *
 * A program has at most 2,000 instructions, so that no pattern is slow: a repetition counts as often
 * as it repeats. Lines longer than 1,000,000 characters divided by the size of the program, and at most
 * 65,536, are searched in pieces that overlap by half; where a match could be longer than that and
 * none is found, the file counts as skipped.
 *
 * @throws {FileSystemError} `invalid-pattern`.
 */
export async function compileSearch(pattern: string, options: GrepOptions): Promise<TextSearch> {
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH) {
    throw new FileSystemError('invalid-pattern', pattern, {
      detail: `a pattern has 1 to ${MAX_PATTERN_LENGTH} characters`,
    })
  }
  const ignoreCase = options.ignoreCase ?? false
  const isLiteral = options.mode === 'literal' || (!ignoreCase && isPlainText(pattern))
  const literal = isLiteral ? pattern : requiredLiteralOf(pattern)
  const regex = isLiteral ? undefined : await compileRegex(pattern, ignoreCase)
  const search = lineSearch(literal, regex, ignoreCase)
  const pace = createSearchPace()
  return {
    ...(literal !== undefined && { requiredLiteral: { text: beginning(literal), ignoreCase } }),
    ...compileInclude(options),
    search: (path, text, collector) =>
      pace.run(scanLines(search, { path, text, collector }), options.signal),
  }
}

/** A regular expression that stands for itself alone, and costs no more than a literal does. */
function isPlainText(pattern: string): boolean {
  return !/[\\.+*?()|[\]{}^$\r\n]/.test(pattern) && pattern.isWellFormed()
}

/** Not between the halves of a surrogate pair. */
function beginning(literal: string): string {
  const cut = literal.slice(0, MAX_PREFILTER_CHARACTERS)
  return cut.isWellFormed() ? cut : literal.slice(0, MAX_PREFILTER_CHARACTERS - 1)
}

function lineSearch(
  literal: string | undefined,
  regex: CompiledRegex | undefined,
  ignoreCase: boolean,
): LineSearch {
  // A literal is compared with every place of a text, at worst to its end.
  const size = Math.max(regex?.size ?? 0, (literal?.length ?? 0) / 10)
  return {
    blockCharacters: blockFor(size),
    unitsPerCharacter: unitsFor(size),
    ...(literal !== undefined && { nextLiteral: literalFinder(literal, ignoreCase) }),
    ...regex?.tests,
  }
}

function blockFor(size: number): number {
  const characters = Math.floor(MAX_TEST_UNITS / Math.max(size, 1))
  return Math.max(MIN_BLOCK_CHARACTERS, Math.min(characters, MAX_BLOCK_CHARACTERS))
}

/** For each character of a text; most instructions are not run for most characters. */
function unitsFor(size: number): number {
  return Math.max(1, size / 4)
}

interface CompiledRegex {
  /** Instructions of the program. */
  readonly size: number
  readonly tests: Pick<LineSearch, 'testLine' | 'mayMatchText'>
}

/** The engine is imported when the first regular expression is compiled. */
async function compileRegex(pattern: string, ignoreCase: boolean): Promise<CompiledRegex> {
  const { RE2JS } = await import('re2js')
  const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0
  const cost = patternCost(pattern)
  checkProgram(pattern, cost.size)
  try {
    const line = RE2JS.compile(pattern, flags)
    const size = line.programSize()
    checkProgram(pattern, size)
    const testLine = createLineTest(line, { ...cost, size, ...anchorsOf(pattern) })
    if (!matchesAcrossLines(pattern)) return { size, tests: { testLine } }
    const whole = RE2JS.compile(pattern, flags | RE2JS.MULTILINE)
    const mayMatchText = (text: string): boolean => hasOddLineEdges(text) || whole.test(text)
    return { size, tests: { testLine, mayMatchText } }
  } catch (error) {
    if (FileSystemError.isInstance(error)) throw error
    // Without a cause: it is the mistake of a model, and no operator needs to know.
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    throw new FileSystemError('invalid-pattern', pattern, {
      detail: reason.replace(/^error parsing regexp: /, ''),
      hint: "Patterns are RE2: no look-around, no back-references. Escape ( [ { . * + ? | \\ with a backslash, or search with mode 'literal'.",
    })
  }
}

function checkProgram(pattern: string, size: number): void {
  if (size <= MAX_PROGRAM_SIZE) return
  throw new FileSystemError('invalid-pattern', pattern, {
    detail: `its program would have about ${size} instructions, and at most ${MAX_PROGRAM_SIZE} are allowed`,
    hint: "A repetition such as x{0,1000} counts as often as it repeats: use smaller counts, * or +, fewer \\p{…} classes, or search for a part of it with mode 'literal'.",
  })
}

/** What a compiled expression is asked. */
interface LineEngine {
  test(text: string): boolean
  matcher(text: string): { find(): boolean; start(): number; end(): number }
}

/** Where every match of a pattern must stand. */
interface Anchors {
  readonly isAtStart: boolean
  readonly isAtEnd: boolean
}

/** Without alternatives, a `^` at its start and a `$` at its end hold for all of a pattern. */
function anchorsOf(pattern: string): Anchors {
  if (pattern.includes('|')) return { isAtStart: false, isAtEnd: false }
  return { isAtStart: pattern.startsWith('^'), isAtEnd: /[^\\]\$$/.test(pattern) }
}

/** Tests a line; one that is too long for one test is tested in pieces that overlap. */
function createLineTest(
  engine: LineEngine,
  cost: PatternCost & Anchors,
): (line: string) => Generator<number, LineVerdict> {
  const length = blockFor(cost.size)
  const isCertain = !cost.isUnbounded && !cost.hasEdges && cost.size * 2 <= length / 2
  // Where a match stands takes much longer to find than whether there is one.
  const perCharacter = unitsFor(cost.size) * (cost.hasEdges ? 10 : 1)
  return function* (line) {
    if (line.length <= length) {
      const isMatch = engine.test(line)
      yield line.length * unitsFor(cost.size) + 20
      return isMatch ? 'match' : 'no-match'
    }
    for (const piece of piecesOf(line, length)) {
      if (!mayHoldAnchors(piece, cost)) continue
      if (cost.hasEdges ? matchesInside(engine, piece) : engine.test(piece.text)) return 'match'
      yield piece.text.length * perCharacter
    }
    return isCertain ? 'no-match' : 'unknown'
  }
}

interface Piece {
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

function mayHoldAnchors({ isFirst, isLast }: Piece, { isAtStart, isAtEnd }: Anchors): boolean {
  return (isFirst || !isAtStart) && (isLast || !isAtEnd)
}

/** Pieces of a line that overlap by half. */
function* piecesOf(line: string, length: number): Generator<Piece> {
  let isLast = false
  for (let start = 0; !isLast; start += Math.floor(length / 2)) {
    isLast = start + length >= line.length
    yield { text: line.slice(start, start + length), isFirst: start === 0, isLast }
  }
}

/** Whether the first match of a piece would be one in its line, whatever stands around the piece. */
function matchesInside(engine: LineEngine, piece: Piece): boolean {
  // Whether there is one is known much sooner than where.
  if (!engine.test(piece.text)) return false
  const matcher = engine.matcher(piece.text)
  if (!matcher.find()) return false
  const isStartSure = piece.isFirst || matcher.start() > 0
  return isStartSure && (piece.isLast || matcher.end() < piece.text.length)
}

/** `^` and `$` of the whole text do not see what is left out of a line: CR and byte order mark. */
function hasOddLineEdges(text: string): boolean {
  return text.charCodeAt(0) === 0xfeff || text.includes('\r')
}

/** Finds the next place of the literal between two indexes; -1 when there is none. */
function literalFinder(
  literal: string,
  ignoreCase: boolean,
): (text: string, from: number, to: number) => number {
  const overlap = literal.length - 1
  if (!ignoreCase) {
    return (text, from, to) => {
      const at = text.slice(from, to + overlap).indexOf(literal)
      return at < 0 ? -1 : from + at
    }
  }
  // Folds case as RE2 does. Without quantifiers its time is bounded.
  const folded = new RegExp(escapeRegex(literal), 'iu')
  return (text, from, to) => {
    const at = folded.exec(text.slice(from, to + overlap))?.index ?? -1
    return at < 0 ? -1 : from + at
  }
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function compileInclude(options: GrepOptions): Pick<TextSearch, 'includes' | 'unitsPerIncluded'> {
  const pattern = options.includeGlob
  if (pattern === undefined) return { includes: () => true, unitsPerIncluded: 0 }
  const glob = compileGlob(pattern)
  const unitsPerIncluded = glob.unitsPerCharacter
  if (!pattern.includes('/')) {
    return { includes: (path) => glob.matches(baseName(path)), unitsPerIncluded }
  }
  const directory = pattern.startsWith('/') ? '/' : normalizePath(options.path ?? '/')
  const start = directory === '/' ? 1 : directory.length + 1
  return { includes: (path) => glob.matches(path.slice(start)), unitsPerIncluded }
}
