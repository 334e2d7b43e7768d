import { isNumericSecret, isSecretName } from './secret-keys.ts'
import { REDACTED } from './secret-shapes.ts'

/** A name, then `:`, `=` or `=>`; the quotes of JSON, also of JSON inside of JSON. */
const NAMED = /(?<![\w.-])([A-Za-z_][\w.-]{1,63})(\\{0,7}["'`])?\s{0,8}(?::|=>?)\s{0,8}/g
/** Headers whose value is more than a word. */
const WHOLE_LINE = /^(?:proxy-)?authorization$|cookie$/i
const SCHEME = /(?:bearer|basic|token|digest|negotiate|apikey|api-key|aws4-hmac-sha256)\s{1,8}/iy
const QUOTE = /(\\{0,7})(["'`])/y
const LINE = /[^\r\n"'`]+/y
const LIST = /\[[^\]]*\]?/y
const WORD = /[^\s"'`,;&<>)\]}{[]+/y
/** Counts, and what is none: a name that is followed by such a value is no secret. */
const NO_SECRET = /^(?:true|false|null|undefined|none)$/i

/**
 * Hides what follows the name of a secret in a text: `password=x`, `x-api-key: x`,
 * `{"token":"x"}`, also where the quotes are escaped. Its cost is linear in the text.
 */
export function hideNamedValues(text: string): string {
  const pieces: string[] = []
  let end = 0
  NAMED.lastIndex = 0
  for (let named = NAMED.exec(text); named !== null; named = NAMED.exec(text)) {
    const [, name = ''] = named
    const from = NAMED.lastIndex
    const value = isSecretName(name) ? findValue(text, from, name) : undefined
    if (value === undefined) continue
    pieces.push(text.slice(end, value.from), REDACTED)
    end = value.to
    NAMED.lastIndex = value.to
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(end)
}

interface Range {
  readonly from: number
  readonly to: number
}

function findValue(text: string, from: number, name: string): Range | undefined {
  const start = endOf(SCHEME, text, from) ?? from
  const quote = matchAt(QUOTE, text, start)
  if (quote !== undefined) return quotedValue(text, start + quote[0].length, quote)
  if (text[start] === '[') return rangeOf(LIST, text, start)
  const pattern = WHOLE_LINE.test(name) ? LINE : WORD
  const range = rangeOf(pattern, text, start)
  if (range === undefined) return undefined
  const value = text.slice(range.from, range.to)
  const counts = /^[\d.]{1,12}$/.test(value) && !isNumericSecret(name)
  return counts || NO_SECRET.test(value) ? undefined : range
}

/** Ends at the quote that has no more backslashes before it than the first one. */
function quotedValue(
  text: string,
  from: number,
  [, escape = '', quote = '']: RegExpExecArray,
): Range {
  const inner = endOf(SCHEME, text, from) ?? from
  for (let at = text.indexOf(quote, inner); at !== -1; at = text.indexOf(quote, at + 1)) {
    if (backslashesBefore(text, at, inner) <= escape.length)
      return { from: inner, to: at - escape.length }
  }
  return { from: inner, to: text.length }
}

function backslashesBefore(text: string, at: number, from: number): number {
  let count = 0
  while (at - count > from && text[at - count - 1] === '\\') count += 1
  return count
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  const match = matchAt(pattern, text, at)
  return match === undefined ? undefined : at + match[0].length
}

function rangeOf(pattern: RegExp, text: string, from: number): Range | undefined {
  const to = endOf(pattern, text, from)
  return to === undefined ? undefined : { from, to }
}
