/** Functions that read a whole text for each call. */
const READERS = ['capture', 'gsub', 'match', 'scan', 'splits', 'sub', 'test'] as const
/** A step of the program pays for so many characters. */
const CHARACTERS_OF_A_STEP = 50
const PARAMETERS = ['(a)', '(a; b)', '(a; b; c)']

/** Each function takes steps for the length of its text before it reads it. */
const WORK = `def helix_work: (if type == "string" then length / ${CHARACTERS_OF_A_STEP} else 0 end) as $steps | (reduce range($steps) as $step (0; 0)) as $done | .;`
const DEFINITIONS = READERS.map((name) =>
  PARAMETERS.map(
    (parameters) => `def helix_${name}${parameters}: helix_work | ${name}${parameters};`,
  ).join(' '),
).join(' ')

/** Strings as far as the first `(` of an interpolation, comments, and words with what follows them. */
const PIECE = /"|#[^\n]*|[.$]?\w+(?:::\w+)*\s*\(?|[()]|[^]/y
const IN_STRING = /(?:\\[^(]|[^"\\])*(?:"|\\\(|$)/y

/** The same program; what its patterns read counts as steps, which are bounded over all of it. */
export function boundJq(program: string): string {
  if (!READERS.some((name) => program.includes(name))) return program
  return `${WORK} ${DEFINITIONS} ${new JqReader(program).renamed()}`
}

/** Goes through a program, of which strings are only a part where they hold an interpolation. */
class JqReader {
  readonly #program: string
  #at = 0
  #text = ''
  /** Brackets that are open: in the program, and in each interpolation. */
  readonly #depths = [0]

  constructor(program: string) {
    this.#program = program
  }

  renamed(): string {
    while (this.#at < this.#program.length) {
      const piece = this.#take(PIECE)
      this.#text += READERS.some((name) => isCall(piece, name)) ? `helix_${piece}` : piece
      if (piece.endsWith('(')) this.#depths.push((this.#depths.pop() ?? 0) + 1)
      else if (piece === '"' || (piece === ')' && this.#endsInterpolation())) this.#readString()
    }
    return this.#text
  }

  #endsInterpolation(): boolean {
    const depth = this.#depths.pop() ?? 0
    if (depth === 0 && this.#depths.length > 0) return true
    this.#depths.push(depth - 1)
    return false
  }

  #readString(): void {
    const piece = this.#take(IN_STRING)
    this.#text += piece
    if (piece.endsWith('\\(')) this.#depths.push(0)
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const piece = pattern.exec(this.#program)?.[0] ?? this.#program.slice(this.#at)
    this.#at += piece.length
    return piece
  }
}

function isCall(piece: string, name: string): boolean {
  return piece.startsWith(name) && /^\s*\($/.test(piece.slice(name.length))
}
