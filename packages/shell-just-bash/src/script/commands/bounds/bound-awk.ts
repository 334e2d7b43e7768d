import { type AwkToken, awkTokens } from './awk-tokens.ts'
import { FIELD_LIMIT_FILE, MAX_FIELDS, TURN_FILE } from './limit-files.ts'

const ASSIGNS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '^='])
const STEPS = new Set(['++', '--'])
const PREFIXES = new Set([...STEPS, '!', '-', '+'])
const OPENING = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
])
const CLOSING = new Set(OPENING.values())
/** A line may be broken behind these. */
const GOES_ON = new Set([',', '{', '&&', '||', '?', ':'])

const FIELD_FUNCTION = `
function helix_field(n) { if (n + 0 > ${MAX_FIELDS}) print "" > "${FIELD_LIMIT_FILE}"; return n }`
const turnFunction = (rounds: number): string => `
function helix_turn() { print ${rounds} > "${TURN_FILE}"; return 1 }`
/** These go through a text of any length. */
const LARGE_STEPS = new Set(['gsub', 'sub', 'gensub', 'match', 'split', '~', '!~'])
/** Such a step is as long as so many rounds of others. */
const ROUNDS_OF_A_LARGE_STEP = 512

/** A use of `NF` whose size cannot be checked before it is made. */
export class AwkBoundError extends Error {}

/**
 * The same program, which asks before it makes a field of a large number: each one below it is made
 * as well. Where the program shares its thread, loops and functions let timers run.
 * @throws AwkBoundError
 */
export function boundAwk(program: string, isShared: boolean): string {
  const editor = new AwkEditor(awkTokens(program))
  editor.boundFields()
  if (isShared) editor.addTurns()
  return editor.text()
}

/** Words of a program, and what is put between them. */
class AwkEditor {
  readonly #tokens: readonly AwkToken[]
  readonly #opened = new Map<number, string>()
  readonly #closed = new Map<number, string>()
  readonly #replaced = new Map<number, string>()
  readonly #ofIndex = new Set<number>()
  readonly #functions = new Set<string>()

  constructor(tokens: readonly AwkToken[]) {
    this.#tokens = tokens
  }

  text(): string {
    const words = this.#tokens.map(({ text, before }, at) => {
      const added = (this.#closed.get(at) ?? '') + (this.#opened.get(at) ?? '')
      return added + before + (this.#replaced.get(at) ?? text)
    })
    return words.join('') + (this.#closed.get(this.#tokens.length) ?? '') + this.#appended()
  }

  boundFields(): void {
    for (const at of this.#where('$')) this.#boundField(at)
    for (const at of this.#where('NF')) if (!this.#ofIndex.has(at)) this.#boundCount(at)
  }

  addTurns(): void {
    for (const at of [...this.#where('while'), ...this.#where('for')]) this.#addTurn(at)
    for (const at of this.#where('function')) {
      const body = this.#tokens.findIndex(({ text }, index) => index > at && text === '{')
      if (body > 0) this.#open(body + 1, 'helix_turn();')
      this.#functions.add(this.#turnFunction())
    }
  }

  #turnFunction(): string {
    const isLarge = this.#tokens.some(({ text }) => LARGE_STEPS.has(text))
    return turnFunction(isLarge ? ROUNDS_OF_A_LARGE_STEP : 1)
  }

  #appended(): string {
    return [...this.#functions].join('')
  }

  #where(text: string): number[] {
    const found = this.#tokens.flatMap((token, at) => (token.text === text ? [at] : []))
    return found.filter((at) => ['sign', 'name'].includes(this.#tokens[at]?.kind ?? ''))
  }

  #boundField(at: number): void {
    const end = this.#indexEnd(at + 1)
    for (let index = at + 1; index < end; index += 1) this.#ofIndex.add(index)
    const isTarget = this.#isChanged(at, end) || this.#isSubstituted(at)
    if (!isTarget || this.#isSmall(at + 1, end)) return
    this.#open(at + 1, 'helix_field(')
    this.#close(end, ')')
    this.#functions.add(FIELD_FUNCTION)
  }

  /** `NF = n` makes or drops fields. */
  #boundCount(at: number): void {
    const after = this.#textAt(at + 1)
    if (this.#textAt(at - 1) === 'getline') throw new AwkBoundError('getline NF is not here')
    if (after === ')' && this.#textAt(at - 1) === '(' && ASSIGNS.has(this.#textAt(at + 2))) {
      throw new AwkBoundError('an assignment to (NF) is not here; leave out the parentheses')
    }
    if (!ASSIGNS.has(after)) return
    const [start, end] = [at + 2, this.#valueEnd(at + 2)]
    if (after === '=' && this.#isSmall(start, end)) return
    this.#replaced.set(at + 1, '=')
    this.#open(start, after === '=' ? ' helix_field(' : ` helix_field(NF ${after[0]} (`)
    this.#close(end, after === '=' ? ')' : '))')
    this.#functions.add(FIELD_FUNCTION)
  }

  #addTurn(at: number): void {
    if (this.#textAt(at + 1) !== '(') return
    const end = this.#matching(at + 1)
    const parts = this.#textAt(at) === 'for' ? this.#semicolons(at + 2, end) : [at + 1, end]
    const [from, to] = parts
    // `for (key in array)` ends by itself.
    if (from === undefined || to === undefined) return
    const isEmpty = to === from + 1
    this.#open(from + 1, isEmpty ? 'helix_turn()' : 'helix_turn()&&(')
    if (!isEmpty) this.#close(to, ')')
    this.#functions.add(this.#turnFunction())
  }

  #textAt(at: number): string {
    const token = this.#tokens[at]
    return token === undefined || token.kind === 'string' ? '' : token.text
  }

  #open(at: number, text: string): void {
    this.#opened.set(at, (this.#opened.get(at) ?? '') + text)
  }

  #close(at: number, text: string): void {
    this.#closed.set(at, (this.#closed.get(at) ?? '') + text)
  }

  /** Behind the operand of a `$`. */
  #indexEnd(from: number): number {
    let at = from
    while (PREFIXES.has(this.#textAt(at))) at += 1
    const text = this.#textAt(at)
    const next = this.#textAt(at + 1)
    if (text === '$') at = this.#indexEnd(at + 1)
    else if (text === '(') at = this.#matching(at) + 1
    else if (this.#tokens[at]?.kind === 'name' && (next === '(' || next === '[')) {
      at = this.#matching(at + 1) + 1
    } else at += 1
    const isPower = this.#textAt(at) === '^' || this.#textAt(at) === '**'
    return Math.min(isPower ? this.#indexEnd(at + 1) : at, this.#tokens.length)
  }

  /** Of the bracket at this place; the end, where there is none. */
  #matching(from: number): number {
    let depth = 0
    for (let at = from; at < this.#tokens.length; at += 1) {
      const text = this.#textAt(at)
      if (OPENING.has(text)) depth += 1
      else if (CLOSING.has(text)) depth -= 1
      if (depth === 0) return at
    }
    return this.#tokens.length
  }

  #semicolons(from: number, end: number): number[] {
    const found: number[] = []
    for (let at = from; at < end; at += 1) {
      if (OPENING.has(this.#textAt(at))) at = this.#matching(at)
      else if (this.#textAt(at) === ';') found.push(at)
    }
    return found
  }

  #isChanged(from: number, end: number): boolean {
    let [left, right] = [from - 1, end]
    while (this.#textAt(left) === '(') left -= 1
    while (this.#textAt(right) === ')') right += 1
    const after = this.#textAt(right)
    return STEPS.has(this.#textAt(left)) || ASSIGNS.has(after) || STEPS.has(after)
  }

  #isSubstituted(at: number): boolean {
    const calls = [...this.#where('sub'), ...this.#where('gsub')]
    return calls.some((call) => call < at && at < this.#matching(call + 1))
  }

  #isSmall(from: number, end: number): boolean {
    const { kind, text } = this.#tokens[from] ?? {}
    if (end !== from + 1) return false
    return text === 'NF' || (kind === 'number' && Number.parseFloat(text ?? '') <= MAX_FIELDS)
  }

  #valueEnd(from: number): number {
    let choices = 0
    for (let at = from; at < this.#tokens.length; at += 1) {
      const text = this.#textAt(at)
      if (text === '(' || text === '[') at = this.#matching(at)
      else if (text === '?') choices += 1
      else if (text === ':' && choices > 0) choices -= 1
      else if ([':', '>', '>>', '|'].includes(text)) {
        throw new AwkBoundError(`a value of NF with a ${text} behind it needs parentheses here`)
      } else if (this.#endsValue(at)) return at
    }
    return this.#tokens.length
  }

  #endsValue(at: number): boolean {
    const text = this.#textAt(at)
    if (text === '\n') return !GOES_ON.has(this.#textAt(at - 1))
    return text === ';' || text === ',' || text === '{' || CLOSING.has(text)
  }
}
