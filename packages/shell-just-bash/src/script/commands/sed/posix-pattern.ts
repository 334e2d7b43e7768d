import { setAt } from './sed-text.ts'

/** What a letter behind a backslash means in the patterns of GNU, in RE2. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Array.from('ntrfvwWsSbB', (letter) => [letter, `\\${letter}`] as const),
  ['<', '\\b'],
  ['>', '\\b'],
  ['`', '\\A'],
  ["'", '\\z'],
])
/** In basic patterns these are operators behind a backslash only. */
const BASIC_OPERATORS = '(){}|+?'
const SPECIAL = /[\\.*^$[\](){}|+?]/

/** Translates a pattern of POSIX, basic or extended, with the additions of GNU. Undefined: RE2 has no such. */
export function re2Of(source: string, isExtended: boolean): string | undefined {
  let result = ''
  let isStart = true
  let at = 0
  while (at < source.length) {
    const { token, operator } = tokenAt(source, at, isExtended)
    const end = at + token.length
    if (operator === undefined) {
      const atom = atomOf(token, { isStart, isExtended, rest: source.slice(end, end + 2) })
      if (atom === undefined) return undefined
      result += atom
    } else result += operatorOf(operator, isStart, source[end])
    isStart =
      operator === undefined ? isStart && isPrefix(token, isExtended) : '(|'.includes(operator)
    at = end
  }
  return result
}

function operatorOf(operator: string, isStart: boolean, next: string | undefined): string {
  if (isStart && '+?{'.includes(operator)) return `\\${operator}`
  // `{,3}` is from 0.
  return operator === '{' && next === ',' ? '{0' : operator
}

/** A pattern, or a part of it, has not begun with this. */
function isPrefix(token: string, isExtended: boolean): boolean {
  return token === '^' || (isExtended && token === '*')
}

interface Token {
  readonly token: string
  readonly operator: string | undefined
}

function tokenAt(source: string, at: number, isExtended: boolean): Token {
  const set = source[at] === '[' ? setAt(source, at) : ''
  if (set !== '') return { token: set, operator: undefined }
  const isEscaped = source[at] === '\\'
  const token = source.slice(at, isEscaped ? at + 2 : at + 1)
  const letter = token.at(-1) ?? ''
  const isOperator = isEscaped !== isExtended && BASIC_OPERATORS.includes(letter)
  return { token, operator: isOperator ? letter : undefined }
}

interface Place {
  readonly isStart: boolean
  readonly isExtended: boolean
  readonly rest: string
}

function atomOf(token: string, place: Place): string | undefined {
  if (token.length === 1) return characterOf(token, place)
  if (token.startsWith('[')) return setOf(token)
  const letter = token.slice(1)
  return /[1-9]/.test(letter) ? undefined : (ESCAPES.get(letter) ?? quoted(letter))
}

function characterOf(token: string, { isStart, isExtended, rest }: Place): string {
  if (token === '.') return token
  if (token === '*') return isStart ? String.raw`\*` : token
  if (token === '^') return isExtended || isStart ? token : String.raw`\^`
  if (token === '$') return isExtended || isEnd(rest) ? token : String.raw`\$`
  return quoted(token)
}

function isEnd(rest: string): boolean {
  return rest === '' || rest === String.raw`\)` || rest === String.raw`\|`
}

/** A backslash is itself in a set, unless it is one of GNU's `\n` and the like. */
function setOf(set: string): string {
  const [, open = '', body = ''] = /^(\[\^?)([^]*)\]$/.exec(set) ?? []
  const kept = body.replaceAll(/\[[:.=][^\]]*[:.=]\]|\\[ntrfv\]]|[\\[\]^]/g, (part) =>
    part.length > 1 ? part : `\\${part}`,
  )
  return `${open}${kept}]`
}

function quoted(text: string): string {
  return SPECIAL.test(text) ? `\\${text}` : text
}
