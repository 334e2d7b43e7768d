import { FileSystemError } from '../../../errors/file-system-error.ts'

/** A class such as `[:alpha:]` within the brackets of a pattern. */
export interface NamedClass {
  readonly test: (codePoint: number) => boolean
  /** Index behind its last character. */
  readonly end: number
}

/** The classes of POSIX; letters and digits of any script, as in a shell with UTF-8. */
const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[\p{L}\p{Nd}]$/u],
  ['alpha', /^\p{L}$/u],
  ['blank', /^[ \t]$/],
  ['cntrl', /^\p{Cc}$/u],
  ['digit', /^[0-9]$/],
  ['graph', /^[^\p{Z}\p{Cc}]$/u],
  ['lower', /^\p{Ll}$/u],
  ['print', /^[^\p{Cc}]$/u],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^\s$/],
  ['upper', /^\p{Lu}$/u],
  ['word', /^[\p{L}\p{Nd}_]$/u],
  ['xdigit', /^[0-9A-Fa-f]$/],
])

/**
 * Reads `[:name:]` at an index; undefined when nothing of the kind stands there.
 * @throws {FileSystemError} `invalid-pattern` for a name that is none, and for `[.x.]` and `[=x=]`.
 */
export function readNamedClass(
  characters: readonly string[],
  index: number,
  pattern: string,
): NamedClass | undefined {
  const mark = characters[index + 1] ?? ''
  if (characters[index] !== '[' || !':.='.includes(mark) || mark === '') return undefined
  const close = characters.findIndex(
    (character, i) => i > index + 2 && character === ']' && characters[i - 1] === mark,
  )
  if (close < 0) return undefined
  const name = characters.slice(index + 2, close - 1).join('')
  const members = mark === ':' ? CLASSES.get(name) : undefined
  if (members === undefined) {
    throw new FileSystemError('invalid-pattern', pattern, {
      detail: `[${mark}${name}${mark}] is not known; there are ${[...CLASSES.keys()].map((it) => `[:${it}:]`).join(' ')}`,
    })
  }
  return { test: (point) => members.test(String.fromCodePoint(point)), end: close + 1 }
}
