import { readDelimited, replacementOf, textOf } from './sed-text.ts'
import {
  type SedAction,
  type SedAddress,
  type SedCommand,
  SedError,
  type SedPattern,
  type SedProgram,
} from './sed-program.ts'

const SIMPLE = 'dDgGhHlnNpPxzF='
const MAX_COMMANDS = 10_000
const LABEL_MISSING = 4

/** Parses a script of sed. @throws {SedError} for one that is wrong or does what is not possible here. */
export function parseSed(script: string): SedProgram {
  const isQuiet = /^#n(?:\n|$)/.test(script)
  return { commands: new SedParser(script).parse(), isQuiet }
}

interface Jump {
  readonly at: number
  readonly label: string
}

class SedParser {
  readonly #script: string
  #at = 0
  readonly #commands: SedCommand[] = []
  readonly #labels = new Map<string, number>()
  readonly #jumps: Jump[] = []
  readonly #groups: number[] = []

  constructor(script: string) {
    this.#script = script
  }

  parse(): readonly SedCommand[] {
    for (;;) {
      this.#skip(/[\s;]*/y)
      if (this.#at >= this.#script.length) break
      this.#command()
      if (this.#commands.length > MAX_COMMANDS) throw this.#error('too many commands')
    }
    if (this.#groups.length > 0) throw this.#error("unmatched `{'")
    for (const { at, label } of this.#jumps) this.#link(at, label)
    return this.#commands
  }

  #command(): void {
    const from = this.#address(false)
    this.#skip(/\s*/y)
    const to = from !== undefined && this.#eat(',') ? this.#end() : undefined
    const isNegated = this.#skip(/[\s!]*/y).includes('!')
    const name = this.#script[this.#at] ?? ''
    this.#at += 1
    if (name === '#' || name === '}' || name === ':') {
      if (from !== undefined && name !== '}')
        throw this.#error(`${name} doesn't want any addresses`)
      return this.#mark(name)
    }
    const at = this.#commands.length
    const action = this.#action(name, at)
    this.#commands.push({ from, to, isNegated, action })
  }

  /** What is in the script and is no command. */
  #mark(name: string): void {
    if (name === '#') return void this.#skip(/[^\n]*/y)
    if (name === ':') {
      const label = this.#skip(/[^\n;]*/y).trim()
      if (label === '') throw this.#error('":" lacks a label')
      return void this.#labels.set(label, this.#commands.length)
    }
    const opened = this.#groups.pop()
    const command = opened === undefined ? undefined : this.#commands[opened]
    if (opened === undefined || command === undefined) throw this.#error("unexpected `}'")
    const action: SedAction = { type: 'group', end: this.#commands.length }
    this.#commands[opened] = { ...command, action }
    this.#finish()
  }

  #action(name: string, at: number): SedAction {
    if (name === '{') {
      this.#groups.push(at)
      return { type: 'group', end: at }
    }
    if (name === 's') return this.#substitution()
    if (name === 'y') return this.#transliteration()
    if (oneOf('aic', name)) return { type: 'text', name, text: this.#text() }
    if (oneOf('rRwW', name)) return { type: 'file', name, file: this.#file() }
    if (oneOf('btT', name)) {
      const label = this.#skip(/[^\n;}]*/y).trim()
      this.#jumps.push({ at, label })
      return { type: 'branch', name, target: at }
    }
    return this.#plainAction(name)
  }

  #plainAction(name: string): SedAction {
    if (name === 'e') throw this.#error('e cannot run commands here')
    if (name === 'v') this.#skip(/[^\n;]*/y)
    else if (oneOf('qQ', name)) {
      const exitCode = Number(this.#skip(/\s*\d*/y).trim() || 0)
      this.#finish()
      return { type: 'quit', name, exitCode }
    } else if (!oneOf(SIMPLE, name)) {
      throw this.#error(name === '' ? 'missing command' : `unknown command: \`${name}'`)
    }
    this.#finish()
    return { type: 'simple', name }
  }

  #substitution(): SedAction {
    const delimiter = this.#delimiter('s')
    const source = this.#part(delimiter, "unterminated `s' command")
    const replacement = this.#part(delimiter, "unterminated `s' command", false)
    const flags = this.#skip(/[gpiImM\d]*/y)
    const file = this.#eat('w') ? this.#file() : undefined
    if (this.#script[this.#at] === 'e') throw this.#error('e cannot run commands here')
    if (file === undefined) this.#finish("unknown option to `s'")
    const first = /\d+/.exec(flags)?.[0]
    if (first !== undefined && Number(first) === 0) {
      throw this.#error("number option to `s' command may not be zero")
    }
    return {
      type: 's',
      pattern: patternOf(source, flags),
      replacement: replacementOf(replacement),
      isGlobal: flags.includes('g'),
      first: Number(first ?? 1),
      prints: flags.includes('p'),
      file,
    }
  }

  #transliteration(): SedAction {
    const delimiter = this.#delimiter('y')
    const [from, to] = [0, 1].map(() =>
      Array.from(textOf(this.#part(delimiter, "unterminated `y' command", false))),
    )
    if (from?.length !== to?.length) {
      throw this.#error("strings for `y' command are different lengths")
    }
    this.#finish()
    const map = new Map<string, string>()
    for (const [index, one] of (from ?? []).entries()) {
      if (!map.has(one)) map.set(one, to?.[index] ?? '')
    }
    return { type: 'y', map }
  }

  /** The text of `a`, `i` and `c`, in one line or behind a backslash. */
  #text(): string {
    this.#skip(/[ \t]*/y)
    if (this.#skip(/\\[ \t]*\n/y) === '') this.#eat('\\')
    const lines = this.#skip(/(?:\\[^]|[^\\\n])*/y)
    if (lines === '' && this.#at >= this.#script.length) {
      throw this.#error("expected \\ after `a', `c' or `i'")
    }
    return `${lines.replaceAll(/\\([^])/g, '$1')}\n`
  }

  #file(): string {
    const file = this.#skip(/[^\n]*/y).trim()
    if (file === '') throw this.#error('missing filename in r/R/w/W commands')
    return file
  }

  #end(): SedAddress {
    this.#skip(/\s*/y)
    const to = this.#address(true)
    if (to === undefined) throw this.#error("unexpected `,'")
    return to
  }

  #address(isEnd: boolean): SedAddress | undefined {
    if (isEnd) {
      const sign = this.#skip(/[+~]/y)
      if (sign !== '') {
        const count = Number(this.#skip(/\d+/y))
        return sign === '+' ? { type: 'offset', lines: count } : { type: 'multiple', of: count }
      }
    }
    if (this.#eat('$')) return { type: 'last' }
    const digits = this.#skip(/\d+/y)
    if (digits !== '') {
      if (!this.#eat('~')) return { type: 'line', line: Number(digits) }
      return { type: 'step', first: Number(digits), step: Number(this.#skip(/\d+/y)) }
    }
    if (this.#script[this.#at] !== '/' && this.#script[this.#at] !== '\\') return undefined
    if (this.#script[this.#at] === '\\') this.#at += 1
    const delimiter = this.#delimiter('/')
    const source = this.#part(delimiter, 'unterminated address regex')
    return { type: 'pattern', pattern: patternOf(source, this.#skip(/[IM]*/y)) }
  }

  #delimiter(name: string): string {
    const delimiter = this.#script[this.#at] ?? ''
    this.#at += 1
    if (delimiter === '' || delimiter === '\n' || delimiter === '\\') {
      throw this.#error(`unterminated \`${name}' command`)
    }
    return delimiter
  }

  #part(delimiter: string, problem: string, isPattern = true): string {
    const read = readDelimited(this.#script, this.#at, { delimiter, isPattern })
    if (read === undefined) throw this.#error(problem)
    this.#at = read.end
    return read.text
  }

  #link(at: number, label: string): void {
    const command = this.#commands[at]
    if (command?.action.type !== 'branch') return
    const target = label === '' ? this.#commands.length : this.#labels.get(label)
    if (target === undefined)
      throw new SedError(`can't find label for jump to \`${label}'`, LABEL_MISSING)
    this.#commands[at] = { ...command, action: { ...command.action, target } }
  }

  /** Nothing else may follow in the command. */
  #finish(problem = 'extra characters after command'): void {
    this.#skip(/[ \t]*/y)
    const next = this.#script[this.#at]
    if (next !== undefined && !'\n;}#'.includes(next)) throw this.#error(problem)
  }

  #eat(character: string): boolean {
    if (this.#script[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #skip(expression: RegExp): string {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#script)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #error(problem: string): SedError {
    return new SedError(`-e expression #1, char ${this.#at}: ${problem}`)
  }
}

type Letters<T extends string> = T extends `${infer First}${infer Rest}`
  ? First | Letters<Rest>
  : never

/** The name is one of these letters. */
function oneOf<T extends string>(letters: T, name: string): name is Letters<T> {
  return name !== '' && letters.includes(name)
}

function patternOf(source: string, flags: string): SedPattern {
  return { source, ignoreCase: /i/i.test(flags), multiline: /m/i.test(flags) }
}
