import { FileSystemError } from '../../errors/file-system-error.ts'
import type { GrepOptions } from './contract.ts'
import { compileGlob } from './glob.ts'
import type { GrepCollector } from './grep-collector.ts'
import { scanLines, type LineSearch } from './line-scan.ts'
import { baseName, normalizePath } from './path.ts'
import { matchesAcrossLines, requiredLiteralOf } from './required-literal.ts'

const MAX_PATTERN_LENGTH = 10_000

/** A compiled search; see {@link compileSearch}. */
export interface TextSearch {
  /**
   * Every file with a match contains it: look for it before decoding. With `ignoreCase` it stands
   * for each of its spellings under simple Unicode case folding; a prefilter may leave it out.
   */
  readonly requiredLiteral?: { readonly text: string; readonly ignoreCase: boolean }
  /** Whether a file passes `includeGlob`; the path is absolute and normalised. */
  includes(path: string): boolean
  /** Adds the matching lines of a text to the collector. */
  search(path: string, text: string, collector: GrepCollector): void
}

/**
 * Compiles a search. A regular expression is RE2: linear time, no look-around and no
 * back-references; `^` and `$` are the ends of a line. A line ends at `\n`, `\r\n` counts as one;
 * a byte order mark is not part of the first line. A match never spans lines.
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
  const literal = options.mode === 'literal' ? pattern : requiredLiteralOf(pattern)
  const search: LineSearch = {
    ...(literal === undefined ? {} : { nextLiteral: literalFinder(literal, ignoreCase) }),
    ...(options.mode === 'literal' ? {} : await compileRegex(pattern, ignoreCase)),
  }
  return {
    ...(literal === undefined ? {} : { requiredLiteral: { text: literal, ignoreCase } }),
    includes: compileInclude(options),
    search: (path, text, collector) => scanLines(search, { path, text, collector }),
  }
}

/** The engine is imported when the first regular expression is compiled. */
async function compileRegex(
  pattern: string,
  ignoreCase: boolean,
): Promise<Pick<LineSearch, 'testLine' | 'mayMatchText'>> {
  const { RE2JS } = await import('re2js')
  const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0
  try {
    const line = RE2JS.compile(pattern, flags)
    const testLine = (text: string): boolean => line.test(text)
    if (!matchesAcrossLines(pattern)) return { testLine }
    const whole = RE2JS.compile(pattern, flags | RE2JS.MULTILINE)
    return { testLine, mayMatchText: (text) => hasOddLineEdges(text) || whole.test(text) }
  } catch (error) {
    // Without a cause: it is the mistake of a model, and no operator need hear of it.
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    throw new FileSystemError('invalid-pattern', pattern, {
      detail: reason.replace(/^error parsing regexp: /, ''),
      hint: "Patterns are RE2: no look-around, no back-references. Escape ( [ { . * + ? | \\ with a backslash, or search with mode 'literal'.",
    })
  }
}

/** `^` and `$` of the whole text do not see what is left out of a line: CR and byte order mark. */
function hasOddLineEdges(text: string): boolean {
  return text.charCodeAt(0) === 0xfeff || text.includes('\r')
}

/** Finds the next place of the literal from an index on; -1 when there is none. */
function literalFinder(
  literal: string,
  ignoreCase: boolean,
): (text: string, from: number) => number {
  if (!ignoreCase) return (text, from) => text.indexOf(literal, from)
  // Folds case as RE2 does. Without quantifiers its time is bounded.
  const folded = new RegExp(escapeRegex(literal), 'giu')
  return (text, from) => {
    folded.lastIndex = from
    return folded.exec(text)?.index ?? -1
  }
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function compileInclude(options: GrepOptions): (path: string) => boolean {
  const pattern = options.includeGlob
  if (pattern === undefined) return () => true
  const glob = compileGlob(pattern)
  if (!pattern.includes('/')) return (path) => glob.matches(baseName(path))
  const directory = pattern.startsWith('/') ? '/' : normalizePath(options.path ?? '/')
  const start = directory === '/' ? 1 : directory.length + 1
  return (path) => glob.matches(path.slice(start))
}
