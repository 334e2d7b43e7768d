import type { CommandWord } from '../modules/shell/line-scanner.ts'
import { parseWords, programName } from '../modules/shell/words.ts'

/** A few options of one letter, as in `rm -rf`. */
const SHORT_OPTIONS = /^-[A-Za-z]{1,3}$/

type WordTest = (word: string) => boolean

interface PatternWord {
  readonly text: string
  readonly matches: WordTest
  readonly isOption: boolean
}

/** The words that the commands of a rule begin with. */
export interface CommandPattern {
  /** Name of the program in lower case, when it has no `*`. */
  readonly program: string | undefined
  readonly words: readonly PatternWord[]
}

/** The pattern, or what is wrong with it. */
export type CommandPatternParse =
  | { readonly pattern: CommandPattern; readonly problem?: undefined }
  | { readonly pattern?: undefined; readonly problem: string }

/** Reads the `command` of a rule: plain words, `*` in them for any characters. */
export function parseCommandPattern(text: string): CommandPatternParse {
  const { words, offence } = parseWords(text, '*')
  if (offence !== undefined) {
    const { character, index, detail } = offence
    return { problem: `${JSON.stringify(character)} at position ${index + 1} ${detail}` }
  }
  const kept = words.at(-1) === '*' ? words.slice(0, -1) : words
  const [program] = kept
  if (words.length === 0) return { problem: 'it has no words' }
  if (words.includes('')) return { problem: 'it has an empty word' }
  const isName = program !== undefined && !program.includes('*')
  return {
    pattern: {
      program: isName ? programName(program).toLowerCase() : undefined,
      words: kept.map((word, index) => (index === 0 ? programWord(word) : plainWord(word))),
    },
  }
}

/** A program counts by its name wherever it is, unless the pattern says where. */
function programWord(text: string): PatternWord {
  const matches = compileWord(text.toLowerCase())
  const hasPlace = text.includes('/')
  return {
    text,
    matches: (word) => matches((hasPlace ? word : programName(word)).toLowerCase()),
    isOption: false,
  }
}

function plainWord(text: string): PatternWord {
  return { text, matches: compileWord(text), isOption: text.startsWith('-') }
}

/**
 * Whether a command begins with the words of a pattern. In doubt it does: a word that is known only
 * when it runs is any word. Options in front of a word are skipped, each with one value; options of
 * the pattern may stand anywhere behind the words in front of them.
 */
export function matchesCommand(pattern: CommandPattern, words: readonly CommandWord[]): boolean {
  let index = 0
  for (const [position, wanted] of pattern.words.entries()) {
    if (wanted.isOption) {
      if (!hasOption(wanted, words.slice(index))) return false
      continue
    }
    if (position > 0) index = skipOptions(wanted, words, index)
    const word = words[index]
    if (index >= words.length) return false
    if (word === undefined) return true
    if (!wanted.matches(word)) return false
    index += 1
  }
  return true
}

/** `--force` is also `--force=true`, and `-rf` is also `-fr` and `-r -f`. */
function hasOption(wanted: PatternWord, words: readonly CommandWord[]): boolean {
  const isThere = (word: CommandWord): boolean => {
    if (word === undefined || wanted.matches(word)) return true
    const end = word.indexOf('=')
    return end > 0 && wanted.matches(word.slice(0, end))
  }
  if (words.some(isThere)) return true
  if (!SHORT_OPTIONS.test(wanted.text)) return false
  const given = words.filter((word) => word !== undefined && /^-[A-Za-z]/.test(word)).join('')
  return Array.from(wanted.text.slice(1)).every((letter) => given.includes(letter))
}

/** The place of the next word that is no option and no value of one. */
function skipOptions(wanted: PatternWord, words: readonly CommandWord[], from: number): number {
  let index = from
  while (words[index]?.startsWith('-') === true) {
    index += 1
    const value = words[index]
    if (value !== undefined && !value.startsWith('-') && !wanted.matches(value)) index += 1
  }
  return index
}

/** `*` stands for any characters. Time is linear in the word for each `*`. */
function compileWord(text: string): WordTest {
  const parts = text.split('*')
  const [head = '', ...rest] = parts
  if (rest.length === 0) return (word) => word === text
  const tail = rest.pop() ?? ''
  return (word) => {
    if (!word.startsWith(head)) return false
    let from = head.length
    for (const part of rest) {
      const place = word.indexOf(part, from)
      if (place < 0) return false
      from = place + part.length
    }
    return word.length - tail.length >= from && word.endsWith(tail)
  }
}
