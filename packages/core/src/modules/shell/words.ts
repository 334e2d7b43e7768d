// Own parser: shell-quote, shlex, shellwords and string-argv all take metacharacters for text or
// drop them, and none says where and why a line is not plain words.

export type WordOffenceKind =
  /** A character with a meaning for the shell, or one that is not safe to pass on. */
  | 'metacharacter'
  /** A character that the shell would expand to file names or words. */
  | 'expansion'

/** Why a command line is more, or less, than a list of plain words. */
export interface WordOffence {
  readonly kind: WordOffenceKind
  /** The offending character; for a quote that is not closed, the quote. */
  readonly character: string
  /** Where it is, in UTF-16 units. */
  readonly index: number
  /** What is wrong with it, for people. */
  readonly detail: string
  /** The first word so far: names the command in the audit log. */
  readonly firstWord: string
}

export type WordParse =
  | { readonly words: readonly string[]; readonly offence?: undefined }
  | { readonly words?: undefined; readonly offence: WordOffence }

/**
 * Splits a command line into words as a POSIX shell does, quotes and backslashes included, and
 * rejects everything that a shell would do more than split: operators, expansions, comments,
 * assignments, line breaks. Characters that only look like ASCII are rejected outside quotes.
 *
 * @param ordinary Characters that stand for themselves although a shell gives them a meaning.
 */
export function parseWords(line: string, ordinary = ''): WordParse {
  const scanner = new WordScanner(line, ordinary)
  const offence = scanner.scan()
  return offence === undefined ? { words: scanner.words } : { offence }
}

/** A word in quotes that every POSIX shell reads back as the same word. */
export function quoteWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** The name of a program without the directory that it is in. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

const PLAIN_WORD = /^[\w./,:@%+-]+$/
/** Characters without any meaning in any position outside quotes. */
const PLAIN_RUN = /[\w./,@%+^-]+/y
const ASSIGNMENT_NAME = /^[A-Za-z_]\w*\+?$/

const METACHARACTERS = new Set(';&|<>()$`!')
const EXPANSIONS = new Set('*?[]{}')
/** After a backslash inside double quotes these lose their meaning; before others it stays. */
const ESCAPABLE_IN_QUOTES = new Set('$`"\\')

/** NUL, line breaks and every other control character but the tab; halves of a pair. */
const NEVER_SAFE = /[\p{Cc}\p{Cs}]/u
/**
 * Outside ASCII, and outside quotes: blanks, invisible characters, punctuation and symbols
 * (curly quotes, dashes, a Greek question mark), letters that are drawn like punctuation (clicks,
 * spacing modifiers) and whatever is not assigned.
 */
const LOOK_ALIKE =
  /[\p{Z}\p{C}\p{P}\p{S}\p{Default_Ignorable_Code_Point}\u01C0-\u01C3\u02B0-\u02FF]/u
const ASCII = /[\0-\x7F]/

type Step = WordOffence | undefined

class WordScanner {
  readonly words: string[] = []
  readonly #line: string
  readonly #ordinary: string
  #index = 0
  /** The word that is being read; undefined between words. */
  #word: string | undefined
  /** Some of the word was quoted, so it is no assignment. */
  #quoted = false

  constructor(line: string, ordinary: string) {
    this.#line = line
    this.#ordinary = ordinary
  }

  scan(): Step {
    while (this.#index < this.#line.length) {
      const offence = this.#takePlainRun() ? undefined : this.#takeSpecial()
      if (offence !== undefined) return offence
    }
    this.#endWord()
    return undefined
  }

  #takePlainRun(): boolean {
    PLAIN_RUN.lastIndex = this.#index
    const run = PLAIN_RUN.exec(this.#line)?.[0] ?? this.#ordinaryCharacter()
    if (run === undefined) return false
    this.#add(run)
    return true
  }

  #ordinaryCharacter(): string | undefined {
    const character = this.#line.charAt(this.#index)
    return character !== '' && this.#ordinary.includes(character) ? character : undefined
  }

  #takeSpecial(): Step {
    const character = this.#peek()
    switch (character) {
      case ' ':
      case '\t':
        this.#endWord()
        this.#index++
        return undefined
      case "'":
        return this.#takeSingleQuoted()
      case '"':
        return this.#takeDoubleQuoted()
      case '\\':
        return this.#takeEscaped()
      default:
        return this.#takeUnquoted(character)
    }
  }

  #takeUnquoted(character: string): Step {
    if (METACHARACTERS.has(character)) return this.#refuse('is a shell metacharacter')
    if (EXPANSIONS.has(character)) return this.#refuse('expands to other words', 'expansion')
    if (character === '#' && this.#word === undefined) return this.#refuse('starts a comment')
    if (character === '~' && this.#tildeExpands()) return this.#refuse('expands to a directory')
    if (character === '=' && this.#isAssignment()) return this.#refuse('sets a variable')
    return this.#checkUnicode(character) ?? this.#add(character)
  }

  #takeSingleQuoted(): Step {
    const open = this.#index
    this.#openQuote()
    for (;;) {
      const character = this.#peek()
      if (character === '') return this.#rejectAt(open, 'is not closed')
      if (character === "'") return void this.#index++
      const offence = this.#checkControl(character)
      if (offence !== undefined) return offence
      this.#add(character)
    }
  }

  #takeDoubleQuoted(): Step {
    const open = this.#index
    this.#openQuote()
    for (;;) {
      const character = this.#peek()
      if (character === '') return this.#rejectAt(open, 'is not closed')
      if (character === '"') return void this.#index++
      const offence = this.#takeInDoubleQuotes(character)
      if (offence !== undefined) return offence
    }
  }

  #takeInDoubleQuotes(character: string): Step {
    if (character === '$' || character === '`' || character === '!') {
      return this.#refuse('keeps its meaning inside double quotes')
    }
    const offence = this.#checkControl(character)
    if (offence !== undefined) return offence
    const next = this.#line.charAt(this.#index + 1)
    if (character !== '\\' || !ESCAPABLE_IN_QUOTES.has(next)) return this.#add(character)
    this.#index++
    return this.#add(next)
  }

  #takeEscaped(): Step {
    const backslash = this.#index++
    const character = this.#peek()
    if (character === '') return this.#rejectAt(backslash, 'ends the line')
    this.#quoted = true
    return this.#checkUnicode(character) ?? this.#add(character)
  }

  #openQuote(): void {
    this.#index++
    this.#quoted = true
    this.#word ??= ''
  }

  /** One character, a surrogate pair as a whole; empty at the end. */
  #peek(): string {
    const codePoint = this.#line.codePointAt(this.#index)
    return codePoint === undefined ? '' : String.fromCodePoint(codePoint)
  }

  #add(text: string): undefined {
    this.#word = (this.#word ?? '') + text
    this.#index += text.length
    return undefined
  }

  #endWord(): void {
    if (this.#word !== undefined) this.words.push(this.#word)
    this.#word = undefined
    this.#quoted = false
  }

  /** At the start of a word; in bash also after the `=` or `:` of what looks like an assignment. */
  #tildeExpands(): boolean {
    const before = this.#word?.at(-1)
    return before === undefined || before === '=' || before === ':'
  }

  #isAssignment(): boolean {
    return this.words.length === 0 && !this.#quoted && ASSIGNMENT_NAME.test(this.#word ?? '')
  }

  #checkControl(character: string): Step {
    if (character === '\t' || !NEVER_SAFE.test(character)) return undefined
    return this.#refuse('is a control character')
  }

  #checkUnicode(character: string): Step {
    const offence = this.#checkControl(character)
    if (offence !== undefined || character <= '\x7F') return offence
    if (!LOOK_ALIKE.test(character) && !ASCII.test(character.normalize('NFKC'))) return undefined
    return this.#refuse('looks like another character; quote it')
  }

  #refuse(detail: string, kind: WordOffenceKind = 'metacharacter'): WordOffence {
    return this.#rejectAt(this.#index, detail, kind)
  }

  #rejectAt(index: number, detail: string, kind: WordOffenceKind = 'metacharacter'): WordOffence {
    const character = String.fromCodePoint(this.#line.codePointAt(index) ?? 0)
    const firstWord = this.words[0] ?? this.#word ?? ''
    return { kind, character, index, detail, firstWord }
  }
}
