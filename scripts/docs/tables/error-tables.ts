// The error classes and their codes, from their source.
import { FileSystemError, type FileSystemErrorCode } from '../../../packages/core/src/index.ts'
import { find, read } from '../../repository.ts'
import { classComment, literals, plainComment } from '../source-text.ts'
import { code, table } from '../table.ts'

interface ErrorClass {
  readonly name: string
  readonly says: string
  readonly codes: readonly string[]
  /** What is said of each code, as far as the source says something. */
  readonly meanings: ReadonlyMap<string, string>
}

/** One row a class. */
export function errorTable(): string {
  return table(
    ['class', 'means'],
    errorClasses().map(({ name, says }) => [code(name), says]),
  )
}

/** A code of one error class. Several classes may have the same code. */
export interface ErrorCode {
  readonly code: string
  readonly className: string
  readonly meaning: string
  /** What the class means. */
  readonly classMeaning: string
}

/** One row a code. */
export function errorCodeTable(): string {
  return table(
    ['code', 'class', 'what happened'],
    errorCodes().map((each) => [code(each.code), code(each.className), each.meaning]),
  )
}

/**
 * @returns every code of every error class, in the order of the codes.
 * @throws {Error} when its source does not explain a code.
 */
export function errorCodes(): readonly ErrorCode[] {
  const found = errorClasses().flatMap(({ name, says, codes, meanings }) =>
    codes.map((each): ErrorCode => {
      const meaning = meanings.get(each)
      if (meaning === undefined) throw new Error(`the source of ${name} does not explain ${each}`)
      return { code: each, className: name, meaning, classMeaning: says }
    }),
  )
  return found.toSorted((a, b) => (code(a.code) < code(b.code) ? -1 : 1))
}

/** Codes are a union, or one literal in the class. */
function errorClasses(): ErrorClass[] {
  return find('packages/*/src/**/*-error.ts').flatMap((file) => {
    const name = /export class (\w+) extends HelixError/.exec(read(file))?.[1]
    if (name === undefined) return []
    const union = literals(file, /export type \w+Code =((?:\s*\|?\s*'[a-z-]+')+)/)
    const codes = union.length > 0 ? union : literals(file, /readonly code = ('[a-z-]+')/)
    const says = classComment(file, name)
    return [{ name, says, codes, meanings: meaningsOf(file, { name, codes, says }) }]
  })
}

function meaningsOf(
  file: string,
  { name, codes, says }: Pick<ErrorClass, 'name' | 'codes' | 'says'>,
): ReadonlyMap<string, string> {
  if (name === FileSystemError.name) return new Map(codes.map((each) => [each, fileMeaning(each)]))
  const [only] = codes
  if (codes.length === 1 && only !== undefined) return new Map([[only, says]])
  return unionComment(file)
}

/** These say themselves what they mean and what to do. */
function fileMeaning(each: string): string {
  const { message, hint = '' } = new FileSystemError(each as FileSystemErrorCode, '/a')
  return `${sentence(message.slice('/a: '.length))} ${hint}`.trim()
}

/** The comment of a union of codes: each code in code style, then what is said of it. */
function unionComment(file: string): ReadonlyMap<string, string> {
  const pattern = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export type \w+Code =/
  const comment = plainComment(pattern.exec(read(file))?.[1] ?? '')
  const parts = [...comment.matchAll(/`([a-z-]+)`: ((?:(?!`[a-z-]+`: ).)+)/g)]
  return new Map(parts.map(([, name = '', says = '']) => [name, sentence(says.trim())]))
}

function sentence(text: string): string {
  const [first = '', ...rest] = text
  const end = text.endsWith('.') ? '' : '.'
  return `${first.toUpperCase()}${rest.join('')}${end}`
}
