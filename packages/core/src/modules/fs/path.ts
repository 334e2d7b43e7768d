import { FileSystemError } from '../../errors/file-system-error.ts'
import { utf8Length } from './bytes.ts'

/** Longest path, in UTF-8 bytes. */
export const MAX_PATH_BYTES = 4096
/** Longest name of a file or directory, in UTF-8 bytes. */
export const MAX_NAME_BYTES = 255
/** Where the framework keeps whole outputs. Listed, but searched only when named by `path`. */
export const INTERNAL_DIRECTORY = '/.helix'

const SLASH = 47
const DOT = 46

/**
 * The one spelling of a workspace path: absolute, without `.`, `..`, empty names and a final
 * slash. `a/b` becomes `/a/b`. A backslash is an ordinary character.
 *
 * @throws {FileSystemError} `path-escape` when it climbs past the root; `invalid-path` when it
 * is empty, holds a NUL or half a surrogate pair, is longer than 4,096 bytes, or has a name
 * longer than 255 bytes.
 */
export function normalizePath(path: string): string {
  const normal = isPlain(path) ? path : resolveNames(path)
  checkLength(normal, path)
  return normal
}

/** The directory that holds a normalised path; the root holds itself. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

/** The last name of a normalised path; empty for the root. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A name inside a normalised directory. The name is not checked. */
export function joinPath(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

/** Whether a path is a directory or lies below it; both normalised. */
export function isWithin(path: string, directory: string): boolean {
  if (directory === '/') return true
  if (!path.startsWith(directory)) return false
  return path.length === directory.length || path.charCodeAt(directory.length) === SLASH
}

/** Orders names and paths by code point, the order of listings and search results. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return orderOfUnit(left) - orderOfUnit(right)
  }
  return a.length - b.length
}

/** Moves the halves of surrogate pairs behind all other units, where their code points are. */
function orderOfUnit(unit: number): number {
  if (unit < 0xd800) return unit
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000
}

/** Already normalised, ASCII and without control over what follows: the usual case, one pass. */
function isPlain(path: string): boolean {
  if (path.charCodeAt(0) !== SLASH || path.length === 1) return false
  let previous = 0
  for (let i = 0; i < path.length; i += 1) {
    const unit = path.charCodeAt(i)
    if (unit === 0 || unit > 127) return false
    // `//` and a name that starts with a dot take the slow way.
    if (previous === SLASH && (unit === SLASH || unit === DOT)) return false
    previous = unit
  }
  return previous !== SLASH
}

function resolveNames(path: string): string {
  if (path === '') throw new FileSystemError('invalid-path', path, { detail: 'it is empty' })
  if (path.includes('\0')) {
    throw new FileSystemError('invalid-path', path, { detail: 'it holds a NUL' })
  }
  if (!path.isWellFormed()) {
    throw new FileSystemError('invalid-path', path, { detail: 'it is not valid Unicode' })
  }
  if (path.length > MAX_PATH_BYTES) throw tooLong(path)
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) throw new FileSystemError('path-escape', path)
  }
  return `/${names.join('/')}`
}

function checkLength(normal: string, path: string): void {
  // A UTF-16 unit is at most 3 bytes.
  if (path.length * 3 <= MAX_NAME_BYTES) return
  if (utf8Length(path) > MAX_PATH_BYTES) throw tooLong(path)
  let start = 1
  while (start <= normal.length) {
    const slash = normal.indexOf('/', start)
    const end = slash < 0 ? normal.length : slash
    if (isLongName(normal, start, end)) {
      throw new FileSystemError('invalid-path', path, {
        detail: `a name is longer than ${MAX_NAME_BYTES} bytes`,
      })
    }
    start = end + 1
  }
}

function isLongName(path: string, start: number, end: number): boolean {
  if ((end - start) * 3 <= MAX_NAME_BYTES) return false
  return utf8Length(path.slice(start, end)) > MAX_NAME_BYTES
}

function tooLong(path: string): FileSystemError {
  return new FileSystemError('invalid-path', path, {
    detail: `it is longer than ${MAX_PATH_BYTES} bytes`,
  })
}
