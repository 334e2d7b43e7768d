import type { RE2JS } from 're2js'
import { re2Of } from './posix-pattern.ts'
import {
  SedError,
  type SedPattern,
  type SedReplacementPart,
  type SedSubstitution,
} from './sed-program.ts'
import type { SedWork } from './sed-work.ts'

const MAX_PROGRAM = 10_000
/** A program of this size searches a character in one unit of work. */
const UNIT_PROGRAM = 32

interface Expression {
  readonly re2: RE2JS
  /** Of one character. */
  readonly cost: number
  /** Longest match that is possible. */
  readonly maxMatch: number
}

type Matcher = ReturnType<RE2JS['matcher']>

type Engine = typeof RE2JS

/** The patterns of one script: each is compiled once, in RE2, whose time is linear. */
export class SedSearch {
  readonly #engine: Engine
  readonly #isExtended: boolean
  readonly #work: SedWork
  readonly #expressions = new Map<string, Expression>()
  #last: Expression | undefined

  static async load(isExtended: boolean, work: SedWork): Promise<SedSearch> {
    const { RE2JS: engine } = await import('re2js')
    return new SedSearch(engine, isExtended, work)
  }

  private constructor(engine: Engine, isExtended: boolean, work: SedWork) {
    this.#engine = engine
    this.#isExtended = isExtended
    this.#work = work
  }

  /** Reports a wrong pattern before the first line is read. */
  check(pattern: SedPattern): void {
    if (pattern.source !== '') this.#compile(pattern)
  }

  test(text: string, pattern: SedPattern): boolean {
    const { re2, cost } = this.#expression(pattern)
    this.#work.search(text.length * cost)
    return re2.test(text)
  }

  /** The text with its replacements, undefined when nothing matches. */
  async substitute(text: string, substitution: SedSubstitution): Promise<string | undefined> {
    const { pattern, replacement, isGlobal, first } = substitution
    const { re2, ...cost } = this.#expression(pattern)
    const matcher = re2.matcher(text)
    const pieces = new Replacements(this.#work)
    let count = 0
    let from = 0
    for (const { start, end } of this.#matches(matcher, text, cost)) {
      count += 1
      if (count >= first) {
        pieces.add(text.slice(from, start))
        pieces.replace(replacement, (group) => groupOf(matcher, group))
        from = end
      }
      if (count >= first && !isGlobal) break
      if (this.#work.needsTurn) await this.#work.turn()
    }
    if (count < first) return undefined
    pieces.add(text.slice(from))
    return pieces.text()
  }

  *#matches(matcher: Matcher, text: string, { cost, maxMatch }: Omit<Expression, 're2'>) {
    let at = 0
    let lastEnd = -1
    while (at <= text.length) {
      this.#work.search(Math.min(text.length - at, maxMatch) * cost + 1)
      if (!matcher.find(at)) return
      const [start, end] = [matcher.start(), matcher.end()]
      this.#work.search((start - at) * cost)
      // No empty match directly behind a match.
      if (end > start || start > lastEnd) yield { start, end }
      lastEnd = end
      at = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
    }
  }

  #expression(pattern: SedPattern): Expression {
    if (pattern.source !== '') this.#last = this.#compile(pattern)
    if (this.#last === undefined) throw new SedError('no previous regular expression')
    return this.#last
  }

  #compile({ source, ignoreCase, multiline }: SedPattern): Expression {
    const key = JSON.stringify([source, ignoreCase, multiline])
    const known = this.#expressions.get(key)
    if (known !== undefined) return known
    const translated = re2Of(source, this.#isExtended)
    if (translated === undefined) {
      throw new SedError('back-references in a pattern are not supported here; use awk')
    }
    const { CASE_INSENSITIVE, DOTALL, LONGEST_MATCH, MULTILINE } = this.#engine
    const flags =
      DOTALL |
      (ignoreCase ? CASE_INSENSITIVE : 0) |
      (multiline ? MULTILINE : 0) |
      (translated.includes('|') ? LONGEST_MATCH : 0)
    const re2 = this.#program(translated, flags)
    const cost = Math.max(1, re2.programSize() / UNIT_PROGRAM)
    const maxMatch = /[*+{]/.test(translated) ? Infinity : translated.length
    const expression = { re2, cost, maxMatch }
    this.#expressions.set(key, expression)
    return expression
  }

  #program(source: string, flags: number): RE2JS {
    let re2: RE2JS
    try {
      re2 = this.#engine.compile(source, flags)
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it cannot be read'
      throw new SedError(`-e expression #1: ${reason.replace(/^error parsing regexp: /, '')}`)
    }
    if (re2.programSize() > MAX_PROGRAM) throw new SedError('regular expression too big')
    return re2
  }
}

function groupOf(matcher: Matcher, group: number): string {
  if (group > matcher.groupCount()) {
    throw new SedError(`-e expression #1: invalid reference \\${group} on \`s' command's RHS`)
  }
  return matcher.group(group) ?? ''
}

/** What a substitution makes, whose length is checked before it is made. */
class Replacements {
  readonly #work: SedWork
  readonly #pieces: string[] = []
  #length = 0
  #case = ''
  #next = ''

  constructor(work: SedWork) {
    this.#work = work
  }

  add(text: string): void {
    this.#length += text.length
    this.#work.grow(this.#length, 'a pattern space')
    if (text !== '') this.#pieces.push(text)
  }

  replace(parts: readonly SedReplacementPart[], group: (number: number) => string): void {
    this.#case = ''
    this.#next = ''
    for (const part of parts) {
      if (part.type === 'case') this.#switch(part.letter)
      else this.add(this.#cased(part.type === 'text' ? part.text : group(part.group)))
    }
  }

  text(): string {
    this.#work.search(this.#length)
    return this.#pieces.join('')
  }

  #switch(letter: string): void {
    if (letter === 'u' || letter === 'l') this.#next = letter
    else this.#case = letter === 'E' ? '' : letter
  }

  #cased(text: string): string {
    if (text === '' || (this.#case === '' && this.#next === '')) return text
    const all = cased(text, this.#case)
    if (this.#next === '') return all
    const first = cased(all.slice(0, 1), this.#next.toUpperCase())
    this.#next = ''
    return first + all.slice(1)
  }
}

function cased(text: string, letter: string): string {
  if (letter === 'U') return text.toUpperCase()
  return letter === 'L' ? text.toLowerCase() : text
}
