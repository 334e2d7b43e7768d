import type { SedReplacementPart } from './sed-program.ts'

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['f', '\f'],
  ['v', '\v'],
  ['a', '\u0007'],
])

/** Reads up to the delimiter; one in a set of a pattern or behind a backslash is none. */
export function readDelimited(
  script: string,
  start: number,
  { delimiter, isPattern }: { readonly delimiter: string; readonly isPattern: boolean },
): { readonly text: string; readonly end: number } | undefined {
  let text = ''
  let at = start
  while (at < script.length) {
    if (script[at] === delimiter) return { text, end: at + 1 }
    if (isPattern && script[at] === '\n') return undefined
    const token = tokenAt(script, at, isPattern)
    // A delimiter with a backslash is that character, unless it stands for something here.
    const isDelimiter = token === `\\${delimiter}` && !/[\w&]/.test(delimiter)
    text += isDelimiter ? literal(delimiter, isPattern) : token
    at += token.length
  }
  return undefined
}

/** A set, a character with its backslash, or a character. */
function tokenAt(script: string, at: number, isPattern: boolean): string {
  const set = isPattern && script[at] === '[' ? setAt(script, at) : ''
  return set === '' ? script.slice(at, at + (script[at] === '\\' ? 2 : 1)) : set
}

function literal(delimiter: string, isPattern: boolean): string {
  return isPattern && /[.*^$[\]]/.test(delimiter) ? `\\${delimiter}` : delimiter
}

const SET = /\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]\n])*\]/y

/** `[…]` of a pattern, also with classes and a first `]`. Empty: none begins here. */
export function setAt(source: string, at: number): string {
  SET.lastIndex = at
  return SET.exec(source)?.[0] ?? ''
}

/** The characters of one side of `y`. */
export function textOf(source: string): string {
  return source.replaceAll(/\\([^])/g, (_, letter: string) => ESCAPES.get(letter) ?? letter)
}

/** What `s` puts in place of a match. */
export function replacementOf(source: string): SedReplacementPart[] {
  const parts: SedReplacementPart[] = []
  for (const [token] of source.matchAll(/\\[^]|&|[^\\&]+|\\/g)) parts.push(partOf(token))
  return parts
}

function partOf(token: string): SedReplacementPart {
  if (token === '&') return { type: 'group', group: 0 }
  if (!token.startsWith('\\') || token.length < 2) return { type: 'text', text: token }
  const letter = token.slice(1)
  if (/\d/.test(letter)) return { type: 'group', group: Number(letter) }
  if ('ULEul'.includes(letter)) return { type: 'case', letter }
  return { type: 'text', text: ESCAPES.get(letter) ?? letter }
}

/** As `l` shows a text, in lines of at most 70 characters. */
export function listed(text: string): string {
  const width = 69
  const shown = Array.from(text, listedCharacter)
  const lines: string[] = ['']
  for (const part of shown) {
    if ((lines.at(-1) ?? '').length + part.length > width) {
      lines[lines.length - 1] += '\\'
      lines.push('')
    }
    lines[lines.length - 1] += part
  }
  return `${lines.join('\n')}$`
}

function listedCharacter(character: string): string {
  if (character === '\\') return '\\\\'
  const known = Array.from(ESCAPES).find(([, value]) => value === character)
  if (known !== undefined) return `\\${known[0]}`
  if (character === '\b') return '\\b'
  if (/[ -~]/.test(character)) return character
  return Array.from(
    new TextEncoder().encode(character),
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ).join('')
}
