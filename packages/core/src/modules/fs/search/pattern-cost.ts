/** Most instructions of a compiled regular expression. */
export const MAX_PROGRAM_SIZE = 2000

/** A class of Unicode takes as long to compile as so many plain characters. */
const UNICODE_CLASS = 64
const NON_ASCII_CLASS = 16

/** What the text of a regular expression says about its program, before it is compiled. */
export interface PatternCost {
  /** About the number of its instructions, rather too many than too few. */
  readonly size: number
  /** A match may have any length. */
  readonly isUnbounded: boolean
  /** It asks what stands before or behind a match: `^`, `$`, `\b`. */
  readonly hasEdges: boolean
}

/** Reads a pattern once; a broken one gets any cost. */
export function patternCost(pattern: string): PatternCost {
  return new CostReader(pattern).read()
}

class CostReader {
  readonly #pattern: string
  #index = 0
  /** Costs of the groups that are open, the outermost first. */
  readonly #sums: number[] = [0]
  /** Cost of the last atom, which a quantifier repeats. */
  #last = 0
  #isUnbounded = false
  #hasEdges = false

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  read(): PatternCost {
    while (this.#index < this.#pattern.length) this.#readOne()
    const size = this.#sums.reduce((sum, one) => sum + one, 2)
    return { size, isUnbounded: this.#isUnbounded, hasEdges: this.#hasEdges }
  }

  #readOne(): void {
    const character = this.#pattern[this.#index] ?? ''
    if (character === '\\') return this.#readEscape()
    if (character === '[') return this.#readClass()
    if (character === '(') return this.#openGroup()
    const isQuantifier = '*+?{'.includes(character) && this.#readQuantifier()
    if (isQuantifier) return
    this.#index += 1
    if (character === ')') return this.#closeGroup()
    if (character === '^' || character === '$') this.#hasEdges = true
    this.#add(1)
  }

  #add(cost: number): void {
    this.#last = cost
    this.#sums.push((this.#sums.pop() ?? 0) + cost)
  }

  #readEscape(): void {
    const next = this.#pattern[this.#index + 1] ?? ''
    if (next === 'Q') return this.#readQuoted()
    if (/[bBAz]/.test(next)) this.#hasEdges = true
    const rest = this.#pattern.slice(this.#index, this.#index + 64)
    const whole = /^\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|.)/su.exec(rest)?.[0] ?? '\\'
    this.#index += whole.length
    this.#add(/^[pP]/.test(next) ? UNICODE_CLASS : 1)
  }

  /** `\Q…\E` is plain text. */
  #readQuoted(): void {
    const end = this.#pattern.indexOf('\\E', this.#index)
    const stop = end < 0 ? this.#pattern.length : end
    this.#add(stop - this.#index)
    this.#last = 1
    this.#index = end < 0 ? stop : stop + 2
  }

  #readClass(): void {
    const { end, cost } = readClass(this.#pattern, this.#index)
    this.#index = end
    this.#add(cost)
  }

  #openGroup(): void {
    const rest = this.#pattern.slice(this.#index, this.#index + 64)
    const opening = /^\(\?(?:P?<[^>]*>|[a-zA-Z-]*[:)])/.exec(rest)?.[0] ?? '('
    this.#index += opening.length
    if (opening.endsWith(')')) this.#last = 0
    else this.#sums.push(0)
  }

  #closeGroup(): void {
    if (this.#sums.length < 2) return
    const cost = this.#sums.pop() ?? 0
    this.#add(cost + 2)
  }

  /** False for a brace that is an ordinary character. */
  #readQuantifier(): boolean {
    const rest = this.#pattern.slice(this.#index, this.#index + 24)
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(rest)
    if (found === null) return false
    const [whole, least, comma, most] = found
    this.#index += whole.length
    this.#isUnbounded ||= whole === '*' || whole === '+' || (comma === ',' && most === '')
    if (least === undefined) this.#repeat(1, 1)
    else {
      const min = Number(least)
      const max = most === '' ? min + 1 : Number(most)
      this.#repeat(min, Math.max(0, max - min))
    }
    return true
  }

  /** Copies that must be there, and copies that may be. */
  #repeat(required: number, optional: number): void {
    const atom = this.#last
    const cost = atom * required + (atom + 1) * optional
    this.#add(cost - atom)
    this.#last = Math.max(cost, 1)
  }
}

/** A `]` right behind the `[` belongs to the class, and so does what stands in `[:alpha:]`. */
const CLASS = /\[\^?\]?(?:\\.|\[:\w*:\]|[^\]\\])*\]?/suy

function readClass(
  pattern: string,
  start: number,
): { readonly end: number; readonly cost: number } {
  CLASS.lastIndex = start
  const body = CLASS.exec(pattern)?.[0] ?? '['
  const unicode = body.match(/\\[pP]/g)?.length ?? 0
  const others = body.match(/\\x|[^\p{ASCII}]/gu)?.length ?? 0
  const cost = 1 + unicode * UNICODE_CLASS + others * NON_ASCII_CLASS
  return { end: start + body.length, cost }
}
