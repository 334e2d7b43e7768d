import { FileSystemError } from '../../../errors/file-system-error.ts'
import { expandBraces } from './glob-braces.ts'
import { compileSegment, type SegmentTest } from './glob-segment.ts'

const MAX_PATTERN_LENGTH = 1024

/** A compiled glob pattern; see {@link compileGlob}. */
export interface GlobMatcher {
  /** Whether a file matches. The path is relative to the search directory: `src/a.ts`. */
  matches(relativePath: string): boolean
  /** Longest directory prefix without wildcards, where a walk can start; empty when none. */
  readonly base: string
  /** False when nothing below this relative directory can match: its subtree may be skipped. */
  mayContain(relativeDirectory: string): boolean
  /** Units of work, of about 20 ns at worst, for each character of a path that is matched. */
  readonly unitsPerCharacter: number
}

/** A name pattern, or any number of names (`**`). */
type Part = SegmentTest | '**'

/**
 * Compiles a glob pattern: `*`, `?`, `[a-z]`, `[!a]`, `[[:alpha:]]` within a name, `**` for any number of
 * directories (at the end: for everything below), `{a,b}` alternatives, `\` before a character that stands for itself. A leading
 * dot needs no special care. A leading `/` or `./` is ignored.
 *
 * Matching time is bounded by the product of the lengths of pattern and path: no pattern can
 * hang the process, which is why no regular expression is built.
 *
 * @throws {FileSystemError} `invalid-pattern`; `path-escape` for a `..`.
 */
export function compileGlob(pattern: string): GlobMatcher {
  const alternatives = splitAlternatives(pattern)
  const compiled = alternatives.map((names) => compileAlternative(names, pattern))
  const [only] = compiled
  return {
    matches:
      only !== undefined && compiled.length === 1
        ? only.matches
        : (path) => compiled.some((alternative) => alternative.matches(path)),
    base: commonBase(alternatives),
    unitsPerCharacter: costOf(alternatives),
    mayContain: (directory) => {
      if (directory === '') return true
      const names = directory.split('/')
      return compiled.some((alternative) => mayContain(alternative.parts, names))
    },
  }
}

/** A name with at most one wildcard is compared once; others may be tried at every character. */
const CHEAP_NAME = /^[^*?[\\]*\*{0,2}[^*?[\\]*$/

function costOf(alternatives: readonly (readonly string[])[]): number {
  const costs = alternatives.map((names) =>
    names.reduce((sum, name) => sum + (CHEAP_NAME.test(name) ? 1 : name.length), 1),
  )
  return costs.reduce((sum, cost) => sum + cost, 0) / 2
}

/** Whether a pattern can be compiled. */
export function isGlob(pattern: string): boolean {
  try {
    compileGlob(pattern)
    return true
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}

/** One of the patterns that braces stand for. */
interface Alternative {
  readonly parts: readonly Part[]
  readonly matches: (path: string) => boolean
}

function splitAlternatives(pattern: string): string[][] {
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH || pattern.includes('\0')) {
    throw new FileSystemError('invalid-pattern', pattern, {
      detail: `a pattern has 1 to ${MAX_PATTERN_LENGTH} characters and no NUL`,
    })
  }
  return expandBraces(pattern).map((text) => {
    const names = text.split('/').filter((name) => name !== '' && name !== '.')
    if (names.includes('..')) throw new FileSystemError('path-escape', pattern)
    // `**/**` is `**`.
    return names.filter((name, index) => name !== '**' || names[index - 1] !== '**')
  })
}

function compileAlternative(names: readonly string[], pattern: string): Alternative {
  const parts = names.map((name): Part => (name === '**' ? '**' : compileSegment(name, pattern)))
  // A final `**` stands for at least one name: `src/**` is what lies below `src`.
  if (parts.at(-1) === '**') parts.push(() => true)
  return { parts, matches: fastMatch(names, parts) ?? ((path) => matchParts(parts, path)) }
}

/** With one `**` right before the last name, a prefix and that name decide. */
function fastMatch(
  names: readonly string[],
  parts: readonly Part[],
): ((path: string) => boolean) | undefined {
  const last = parts.at(-1)
  const literal = literalPrefix(names)
  if (parts.length !== literal.length + 2 || parts[literal.length] !== '**') return undefined
  if (last === undefined || last === '**') return undefined
  const prefix = literal.length === 0 ? '' : `${literal.join('/')}/`
  return (path) => path.startsWith(prefix) && last(path.slice(path.lastIndexOf('/') + 1))
}

/**
 * Greedy matching that steps back to the last `**` only. This finds every match, since each
 * other part takes exactly one name.
 */
function matchParts(parts: readonly Part[], path: string): boolean {
  const names = path.split('/')
  let part = 0
  let star = -1
  let resume = 0
  let index = 0
  while (index < names.length) {
    const test = parts[part]
    if (test === '**') {
      star = part
      resume = index
      part += 1
    } else if (test !== undefined && test(names[index] ?? '')) {
      part += 1
      index += 1
    } else if (star >= 0) {
      resume += 1
      index = resume
      part = star + 1
    } else return false
  }
  return part === parts.length
}

function mayContain(parts: readonly Part[], names: readonly string[]): boolean {
  for (let i = 0; i < names.length; i += 1) {
    const test = parts[i]
    if (test === '**') return true
    if (test === undefined || !test(names[i] ?? '')) return false
  }
  return parts.length > names.length
}

/** Leading names without wildcards, the file name left out. */
function literalPrefix(names: readonly string[]): string[] {
  const end = names.findIndex((name) => /[*?[\\]/.test(name))
  return names.slice(0, end < 0 ? Math.max(names.length - 1, 0) : end)
}

function commonBase(alternatives: readonly (readonly string[])[]): string {
  const prefixes = alternatives.map(literalPrefix)
  const [first = [], ...others] = prefixes
  const differs = first.findIndex((name, i) => others.some((other) => other[i] !== name))
  return (differs < 0 ? first : first.slice(0, differs)).join('/')
}
