/** A word of a command; undefined when it is known only once it runs (`$NAME`, `*.ts`). */
export type CommandWord = string | undefined

const PLAIN_RUN = /[\w./,@%+^:-]+/y
const REDIRECT = />>|>\||[<>]&|<>|[<>]/y
const VARIABLE = /\$(?:\{\w+\}|\w+|[?$@*#!-])/y
const ASSIGNMENT_NAME = /^[A-Za-z_]\w*\+?$/
/** Blanks and invisible characters outside ASCII, and control characters. */
const UNSAFE = /[\p{Cc}\p{Cs}]/u
const UNCLEAR = /[\p{Z}\p{C}\p{P}\p{S}\p{Default_Ignorable_Code_Point}]/u
const SEPARATORS = '\n;|)'
const BLANK = /[ \t\n]/

/** Why a line cannot be taken apart. */
type Problem = string | undefined

/**
 * Finds the simple commands of a line of a POSIX shell: quotes, operators, redirections, groups. It
 * stops at what it does not understand for certain, and says so; nothing is guessed.
 */
export class LineScanner {
  readonly commands: (readonly CommandWord[])[] = []
  /** Names of variables that are assigned in front of commands. */
  readonly variables: string[] = []
  readonly #line: string
  #index = 0
  #words: CommandWord[] = []
  #word: string | undefined
  /** The word holds something that is known only when it runs. */
  #isUnknown = false
  #isQuoted = false
  #isAssignment = false
  /** The next word is the file of a redirection. */
  #isTarget = false

  constructor(line: string) {
    this.#line = line
  }

  scan(): Problem {
    while (this.#index < this.#line.length) {
      const problem = this.#takePlainRun() ? undefined : this.#takeSpecial(this.#peek())
      if (problem !== undefined) {
        this.#endCommand()
        return problem
      }
    }
    this.#endCommand()
    return undefined
  }

  #takePlainRun(): boolean {
    const run = this.#match(PLAIN_RUN)
    if (run !== undefined) this.#add(run)
    return run !== undefined
  }

  #takeSpecial(character: string): Problem {
    switch (character) {
      case ' ':
      case '\t':
        this.#endWord()
        this.#index += 1
        return undefined
      case "'":
        return this.#takeSingleQuoted()
      case '"':
        return this.#takeDoubleQuoted()
      case '\\':
        return this.#takeEscaped()
      case '$':
        return this.#takeDollar()
      case '`':
        return 'it substitutes a command'
      default:
        return this.#takeOperator(character)
    }
  }

  #takeOperator(character: string): Problem {
    if (SEPARATORS.includes(character)) return this.#separate()
    switch (character) {
      case '&':
        return this.#line[this.#index + 1] === '>' ? '&> means two things' : this.#separate()
      case '(':
        return this.#takeGroup()
      case '<':
      case '>':
        return this.#takeRedirect()
      case '{':
      case '}':
        return this.#takeBrace(character)
      default:
        return this.#takeCharacter(character)
    }
  }

  #separate(): undefined {
    this.#endCommand()
    this.#index += 1
  }

  #takeGroup(): Problem {
    const isFirst = this.#word === undefined && this.#words.length === 0
    if (!isFirst || this.#line[this.#index + 1] === '(') return 'its parentheses are no plain group'
    return this.#separate()
  }

  #takeRedirect(): Problem {
    const rest = this.#line.slice(this.#index, this.#index + 2)
    if (rest === '<<') return 'it has a here document'
    if (rest.endsWith('(')) return 'it substitutes a process'
    const isDescriptor = this.#word !== undefined && !this.#isQuoted && /^\d+$/.test(this.#word)
    if (isDescriptor) this.#word = undefined
    this.#endWord()
    this.#index += this.#match(REDIRECT)?.length ?? 1
    this.#isTarget = true
    return undefined
  }

  #takeBrace(character: string): Problem {
    const next = this.#line[this.#index + 1]
    const isAlone = this.#word === undefined && (next === undefined || /[\s;]/.test(next))
    if (isAlone && this.#words.length === 0) return this.#separate()
    this.#isUnknown = true
    return this.#add(character)
  }

  #takeCharacter(character: string): Problem {
    if (UNSAFE.test(character)) return 'it has a control character'
    if (character === '#' && this.#word === undefined) return 'it has a comment'
    if (character === '=') this.#markAssignment()
    this.#isUnknown ||= this.#isExpansion(character)
    return this.#add(character)
  }

  #markAssignment(): void {
    if (this.#isQuoted || this.#isUnknown || this.#words.length > 0) return
    this.#isAssignment ||= ASSIGNMENT_NAME.test(this.#word ?? '')
  }

  #isExpansion(character: string): boolean {
    const isFirst = this.#word === undefined
    // `[` as a word is the program of that name.
    if (character === '[') return !isFirst || !this.#isBlankAt(this.#index + 1)
    if (character === '~') return isFirst
    return '*?'.includes(character) || (character > '\x7F' && UNCLEAR.test(character))
  }

  #takeSingleQuoted(): Problem {
    const end = this.#line.indexOf("'", this.#index + 1)
    if (end < 0) return 'a quote is not closed'
    const text = this.#line.slice(this.#index + 1, end)
    if (text.includes('\0')) return 'it has a control character'
    this.#isQuoted = true
    this.#word = (this.#word ?? '') + text
    this.#index = end + 1
    return undefined
  }

  #takeDoubleQuoted(): Problem {
    this.#index += 1
    this.#isQuoted = true
    this.#word ??= ''
    for (;;) {
      const character = this.#peek()
      if (character === '') return 'a quote is not closed'
      if (character === '"') return void (this.#index += 1)
      const problem = this.#takeInDoubleQuotes(character)
      if (problem !== undefined) return problem
    }
  }

  #takeInDoubleQuotes(character: string): Problem {
    if (character === '`') return 'it substitutes a command'
    if (character === '$') return this.#takeDollar()
    if (character === '\0') return 'it has a control character'
    if (character !== '\\') return this.#add(character)
    const next = this.#line.charAt(this.#index + 1)
    if (next === '\n') return void (this.#index += 2)
    if (!'$`"\\'.includes(next) || next === '') return this.#add(character)
    this.#index += 1
    return this.#add(next)
  }

  #takeEscaped(): Problem {
    this.#index += 1
    const character = this.#peek()
    if (character === '') return 'it ends with a backslash'
    if (character === '\n') return void (this.#index += 1)
    if (UNSAFE.test(character)) return 'it has a control character'
    this.#isQuoted = true
    return this.#add(character)
  }

  #takeDollar(): Problem {
    const variable = this.#match(VARIABLE)
    if (variable !== undefined) {
      this.#isUnknown = true
      return this.#add(variable)
    }
    const next = this.#line.charAt(this.#index + 1)
    if (next === '' || BLANK.test(next)) return this.#add('$')
    return 'it substitutes something'
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#index
    return pattern.exec(this.#line)?.[0]
  }

  #peek(): string {
    const point = this.#line.codePointAt(this.#index)
    return point === undefined ? '' : String.fromCodePoint(point)
  }

  #isBlankAt(index: number): boolean {
    const character = this.#line[index]
    return character === undefined || BLANK.test(character)
  }

  #add(text: string): undefined {
    this.#word = (this.#word ?? '') + text
    this.#index += text.length
  }

  #endWord(): void {
    const word = this.#word
    if (word === undefined) return
    if (this.#isTarget) this.#isTarget = false
    else if (this.#isAssignment) this.variables.push(word.slice(0, word.search(/[+=]/)))
    else this.#words.push(this.#isUnknown ? undefined : word)
    this.#word = undefined
    this.#isUnknown = false
    this.#isQuoted = false
    this.#isAssignment = false
  }

  #endCommand(): void {
    this.#endWord()
    this.#isTarget = false
    if (this.#words.length > 0) this.commands.push(this.#words)
    this.#words = []
  }
}
