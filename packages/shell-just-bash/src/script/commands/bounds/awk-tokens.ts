/** A word of an awk program, with the blanks and the comment in front of it. */
export interface AwkToken {
  readonly kind: 'number' | 'string' | 'pattern' | 'name' | 'newline' | 'sign'
  readonly text: string
  readonly before: string
}

const BLANK = /(?:[ \t\r]|\\\n|#[^\n]*)*/y
const NEWLINE = /\n/y
const STRING = /"(?:\\[^]|[^"\\])*"?/y
const PATTERN = /\/(?:\\[^]|[^/\\\n])*\/?/y
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+|\d+)(?:[eE][+-]?\d*)?/y
const NAME = /[A-Za-z_]\w*/y
const SIGN = /\+\+|--|\*\*|&&|\|\||>>|[-+*/%^=!<>]=|!~|[^]/y

/** Behind these a slash begins a pattern; elsewhere it divides. */
const BEFORE_PATTERN = new Set(
  '; { } ( [ , = += -= *= /= %= ^= && || ! ~ !~ ? : < > <= >= == != + - * ** % ^'.split(' '),
)
const WORDS_BEFORE_PATTERN = new Set(['print', 'printf', 'if', 'while', 'do', 'for', 'return'])

/** The words of an awk program, as just-bash reads them. */
export function awkTokens(program: string): AwkToken[] {
  const tokens: AwkToken[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(program)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  while (at < program.length) {
    const before = take(BLANK) ?? ''
    if (at >= program.length) break
    tokens.push({ ...nextToken(take, tokens.at(-1)), before })
  }
  return tokens
}

function nextToken(
  take: (pattern: RegExp) => string | undefined,
  last: AwkToken | undefined,
): Omit<AwkToken, 'before'> {
  const kinds = [
    ['newline', NEWLINE],
    ['string', STRING],
    ...(patternMayFollow(last) ? [['pattern', PATTERN] as const] : []),
    ['number', NUMBER],
    ['name', NAME],
  ] as const
  for (const [kind, pattern] of kinds) {
    const text = take(pattern)
    if (text !== undefined) return { kind, text }
  }
  return { kind: 'sign', text: take(SIGN) ?? '' }
}

function patternMayFollow(last: AwkToken | undefined): boolean {
  if (last === undefined || last.kind === 'newline') return true
  if (last.kind === 'name') return WORDS_BEFORE_PATTERN.has(last.text)
  return last.kind === 'sign' && BEFORE_PATTERN.has(last.text)
}
