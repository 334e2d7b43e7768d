import { utf8Latin1 } from '../../byte-strings.ts'

/** Longer lines are searched by just-bash when a pattern repeats something: that may take long. */
const MAX_REPEATED_LINE = 500

/** A pattern that takes time in proportion to a line, whatever the line is. */
export interface PlainPattern {
  /** UTF-8, one character a byte. Undefined: it needs {@link expression}. */
  readonly literal: string | undefined
  /** Finds the same first match as a POSIX program does. */
  readonly expression: RegExp
  readonly canBeEmpty: boolean
  /** Lines that are longer are not for it. */
  readonly maxLine: number
}

/** Means the same in basic, extended and JavaScript patterns. */
const ATOMS = /^(?:[\w \t,:;@#%&=<>"'`~/!-]|\\[.[\]*^$/]|\[[A-Za-z0-9_ ,:;@#%&=<>.-]+\]|\.)$/
const SPECIAL = /[\\[\].*^$+?(){}|]/
const TOKEN = /\\.|\[\^?[^\]]*\]|[^]/g

/**
 * Translates a pattern of plain characters, `.`, sets, anchors and one repetition of a single
 * character. Undefined: it has more, or is not ASCII in more than plain characters.
 */
export function plainPattern(source: string, options: PatternOptions): PlainPattern | undefined {
  const { isFixed, isExtended, flags = '' } = options
  if (source === '' || source.includes('\n')) return undefined
  if (isFixed || !SPECIAL.test(source)) return literalPattern(utf8Latin1(source), flags)
  const core = unanchored(source.match(TOKEN) ?? [])
  const repeated = core.filter((token) => isRepetition(token, isExtended))
  const isKnown = core.every((token, index) => isToken(token, core[index - 1], isExtended))
  if (!isKnown || repeated.length > 1) return undefined
  return {
    literal: undefined,
    expression: new RegExp(source.replaceAll(/\\(?=\/)/g, ''), `${flags}s`),
    canBeEmpty: core.length === 2 * repeated.length,
    maxLine: repeated.length > 0 ? MAX_REPEATED_LINE : Infinity,
  }
}

function unanchored(tokens: readonly string[]): readonly string[] {
  const body = tokens[0] === '^' ? tokens.slice(1) : tokens
  return body.at(-1) === '$' ? body.slice(0, -1) : body
}

/** The same of an extended pattern with alternatives: any of them, not the longest. */
export function anyPlainPattern(source: string, options: PatternOptions): PlainPattern | undefined {
  const isChoice = options.isExtended && !options.isFixed && /^[^\\[\](){}]*$/.test(source)
  if (!isChoice || !source.includes('|')) return plainPattern(source, options)
  const parts = source.split('|').map((part) => plainPattern(part, options))
  const known = parts.filter((part) => part !== undefined)
  if (known.length < parts.length) return undefined
  return {
    literal: undefined,
    expression: new RegExp(
      known.map(({ expression }) => expression.source).join('|'),
      `${options.flags ?? ''}s`,
    ),
    canBeEmpty: known.some(({ canBeEmpty }) => canBeEmpty),
    maxLine: Math.min(...known.map(({ maxLine }) => maxLine)),
  }
}

export interface PatternOptions {
  readonly isFixed: boolean
  readonly isExtended: boolean
  readonly flags?: string
}

/** An extended pattern that means the same in RE2: also groups, and as many repetitions as wanted. */
export function isRe2Pattern(source: string): boolean {
  const tokens = source.match(TOKEN) ?? []
  return tokens.every((token) => /^[()|*+?^]$/.test(token) || (ATOMS.test(token) && isSet(token)))
}

function literalPattern(literal: string, flags: string): PlainPattern {
  const escaped = literal.replaceAll(/[\\[\].*^$+?(){}|/]/g, String.raw`\$&`)
  return {
    literal: flags.includes('i') ? undefined : literal,
    expression: new RegExp(escaped, flags),
    canBeEmpty: false,
    maxLine: Infinity,
  }
}

function isToken(token: string, before: string | undefined, isExtended: boolean): boolean {
  if (!isRepetition(token, isExtended)) return ATOMS.test(token) && isSet(token)
  return before !== undefined && !isRepetition(before, isExtended)
}

function isRepetition(token: string, isExtended: boolean): boolean {
  return token === '*' || (isExtended && (token === '+' || token === '?'))
}

/** A set without classes, whose ranges are of letters or digits. */
function isSet(token: string): boolean {
  if (!token.startsWith('[')) return true
  const ranges = token.slice(1, -1).match(/.-./g) ?? []
  if (/-/.test(token.replaceAll(/[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d/g, ''))) return false
  return ranges.every(([from = '', , to = '']) => from <= to)
}
