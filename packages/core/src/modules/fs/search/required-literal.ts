/**
 * A text that every match of a regular expression contains, the longest that is certain;
 * undefined when there is none or the expression holds anything unusual. Reads only plain
 * characters outside of groups, so it may find less than there is, never something wrong.
 */
export function requiredLiteralOf(pattern: string): string | undefined {
  // Inline flags change what a character means.
  if (/\(\?[^:P<]/.test(pattern)) return undefined
  const runs = readRuns(pattern)
  const longest = runs?.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest === undefined || longest === '' ? undefined : longest
}

/**
 * Whether a line that matches also makes the whole text match in multi-line mode, so that one
 * pass can rule a file out. Not so when an expression names the ends of the text or sets flags.
 */
export function matchesAcrossLines(pattern: string): boolean {
  return !/\\[Az]|\(\?(?!:|P<|<|i\)|i:)/.test(pattern)
}

interface Cursor {
  readonly pattern: string
  index: number
}

/** A piece of the expression: its literal character, or nothing that is certain. */
type Atom = string | undefined

function readRuns(pattern: string): string[] | undefined {
  const cursor: Cursor = { pattern, index: 0 }
  const runs: string[] = []
  let run = ''
  while (cursor.index < pattern.length) {
    if (pattern[cursor.index] === '|') return undefined
    const atom = readAtom(cursor)
    if (atom === 'unknown') return undefined
    const quantifier = readQuantifier(cursor)
    // `a+` has one `a` for certain, and what follows the last one stands right behind it.
    if (atom.literal !== undefined && quantifier !== 'optional') run += atom.literal
    if (atom.literal === undefined || quantifier !== 'once') {
      runs.push(run)
      run = atom.literal !== undefined && quantifier === 'repeated' ? atom.literal : ''
    }
  }
  runs.push(run)
  return runs
}

function readAtom(cursor: Cursor): { readonly literal: Atom } | 'unknown' {
  const character = String.fromCodePoint(cursor.pattern.codePointAt(cursor.index) ?? 0)
  if (character === '\\') return readEscape(cursor)
  if (character === '[') return skipClass(cursor)
  if (character === '(') return skipGroup(cursor)
  if (')*+?{'.includes(character)) return 'unknown'
  cursor.index += character.length
  return { literal: '^$.'.includes(character) ? undefined : character }
}

/** An escaped sign is itself; classes and assertions say nothing; the rest is left alone. */
function readEscape(cursor: Cursor): { readonly literal: Atom } | 'unknown' {
  const next = cursor.pattern[cursor.index + 1] ?? ''
  cursor.index += 2
  if (/[wWdDsSbB]/.test(next)) return { literal: undefined }
  if (/[^\w\s]/.test(next) && next.charCodeAt(0) < 128) return { literal: next }
  return 'unknown'
}

function skipClass(cursor: Cursor): { readonly literal: Atom } | 'unknown' {
  const { pattern } = cursor
  let i = cursor.index + 1
  if (pattern[i] === '^') i += 1
  if (pattern[i] === ']') i += 1
  for (; i < pattern.length; i += 1) {
    // A nested `[` may open a named class, whose `]` is not the end.
    if (pattern[i] === '[') return 'unknown'
    if (pattern[i] === '\\') i += 1
    else if (pattern[i] === ']') {
      cursor.index = i + 1
      return { literal: undefined }
    }
  }
  return 'unknown'
}

function skipGroup(cursor: Cursor): { readonly literal: Atom } | 'unknown' {
  const { pattern } = cursor
  let depth = 0
  while (cursor.index < pattern.length) {
    const character = pattern[cursor.index]
    if (character === '[') {
      if (skipClass(cursor) === 'unknown') return 'unknown'
      continue
    }
    if (character === '\\') {
      if (readEscape(cursor) === 'unknown') return 'unknown'
      continue
    }
    cursor.index += 1
    if (character === '(') depth += 1
    if (character === ')' && (depth -= 1) === 0) return { literal: undefined }
  }
  return 'unknown'
}

function readQuantifier(cursor: Cursor): 'once' | 'repeated' | 'optional' {
  let kind: 'once' | 'repeated' | 'optional' = 'once'
  for (;;) {
    const rest = /^(?:[*?+]|\{\d+(?:,\d*)?\})/.exec(cursor.pattern.slice(cursor.index))?.[0]
    if (rest === undefined) return kind
    cursor.index += rest.length
    if (rest === '+') kind = kind === 'once' ? 'repeated' : kind
    else kind = 'optional'
  }
}
