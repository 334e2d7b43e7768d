import { FileSystemError } from '../../../errors/file-system-error.ts'
import { readNamedClass } from './glob-classes.ts'

/** Tests one name of a path. */
export type SegmentTest = (name: string) => boolean

/** One character of the name, or any number of characters (`*`). */
type Token = ((codePoint: number) => boolean) | '*'

/**
 * Compiles the pattern of one name. The usual shapes become a comparison; the rest is matched
 * token by token, in time bounded by the product of both lengths.
 *
 * @throws {FileSystemError} `invalid-pattern` for a `[` that is not closed.
 */
export function compileSegment(segment: string, pattern: string): SegmentTest {
  return simpleTest(segment) ?? tokenTest(readTokens(segment, pattern))
}

/** No wildcard, or a single `*`. */
function simpleTest(segment: string): SegmentTest | undefined {
  if (/[?[\\]/.test(segment)) return undefined
  const star = segment.indexOf('*')
  if (star < 0) return (name) => name === segment
  const prefix = segment.slice(0, star)
  const suffix = segment.slice(star + 1)
  if (suffix.includes('*')) return undefined
  if (prefix === '') return (name) => name.endsWith(suffix)
  const shortest = prefix.length + suffix.length
  return (name) => name.length >= shortest && name.startsWith(prefix) && name.endsWith(suffix)
}

/** Greedy, stepping back to the last `*` only: enough, since each other token takes one character. */
function tokenTest(tokens: readonly Token[]): SegmentTest {
  return (name) => {
    const points = Array.from(name, (character) => character.codePointAt(0) ?? 0)
    let token = 0
    let star = -1
    let resume = 0
    let index = 0
    while (index < points.length) {
      const test = tokens[token]
      if (test === '*') {
        star = token
        resume = index
        token += 1
      } else if (test !== undefined && test(points[index] ?? 0)) {
        token += 1
        index += 1
      } else if (star >= 0) {
        resume += 1
        index = resume
        token = star + 1
      } else return false
    }
    while (tokens[token] === '*') token += 1
    return token === tokens.length
  }
}

function readTokens(segment: string, pattern: string): Token[] {
  const characters = Array.from(segment)
  const tokens: Token[] = []
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] ?? ''
    if (character === '*') tokens.push('*')
    else if (character === '?') tokens.push(() => true)
    else if (character === '[') {
      const end = findClassEnd(characters, i, pattern)
      if (end < 0) {
        throw new FileSystemError('invalid-pattern', pattern, {
          detail: 'a [ is not closed; write \\[ for the character itself',
        })
      }
      tokens.push(readClass(characters.slice(i + 1, end), pattern))
      i = end
    } else {
      if (character === '\\' && i + 1 < characters.length) i += 1
      tokens.push(isCharacter(characters[i] ?? ''))
    }
  }
  return tokens
}

/** A `]` right after `[`, `[!` or `[^` belongs to the class. */
function findClassEnd(characters: readonly string[], start: number, pattern: string): number {
  const first = isNegation(characters[start + 1]) ? start + 2 : start + 1
  for (let i = first; i < characters.length; i += 1) {
    const named = readNamedClass(characters, i, pattern)
    if (named !== undefined) i = named.end - 1
    else if (characters[i] === '\\') i += 1
    else if (characters[i] === ']' && i > first) return i
  }
  return -1
}

function readClass(body: readonly string[], pattern: string): Token {
  const negated = isNegation(body[0])
  const ranges: (readonly [number, number])[] = []
  const named: ((point: number) => boolean)[] = []
  let i = negated ? 1 : 0
  const next = (): number => {
    if (body[i] === '\\' && i + 1 < body.length) i += 1
    i += 1
    return body[i - 1]?.codePointAt(0) ?? 0
  }
  while (i < body.length) {
    const one = readNamedClass(body, i, pattern)
    if (one !== undefined) {
      named.push(one.test)
      i = one.end
      continue
    }
    const low = next()
    const isRange = body[i] === '-' && i + 1 < body.length
    if (isRange) i += 1
    ranges.push([low, isRange ? next() : low])
  }
  const isMember = (point: number): boolean =>
    ranges.some(([low, high]) => low <= point && point <= high) || named.some((it) => it(point))
  return (point) => isMember(point) !== negated
}

function isNegation(character: string | undefined): boolean {
  return character === '!' || character === '^'
}

function isCharacter(character: string): (codePoint: number) => boolean {
  const wanted = character.codePointAt(0)
  return (point) => point === wanted
}
