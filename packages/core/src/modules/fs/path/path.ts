import { FileSystemError } from '../../../errors/file-system-error.ts'
import { utf8Length } from '../text/bytes.ts'

/** Longest path, in UTF-8 bytes. */
export const MAX_PATH_BYTES = 4096
/** Longest name of a file or directory, in UTF-8 bytes. */
export const MAX_NAME_BYTES = 255
/** Most names in a path: so deep may files and directories be nested, in every provider. */
export const MAX_PATH_DEPTH = 256
/** Where the framework keeps whole outputs. Listed, but searched only when named by `path`. */
export const INTERNAL_DIRECTORY = '/.helix'

const SLASH = 47
const DOT = 46

/**
 * The one spelling of a workspace path: absolute, without `.`, `..`, empty names and a final
 * slash. `a/b` becomes `/a/b`. A backslash is an ordinary character.
 *
 * @throws {FileSystemError} `path-escape` when it climbs past the root; `invalid-path` when it
 * is empty, holds a NUL or half a surrogate pair, is longer than 4,096 bytes, has a name longer
 * than 255 bytes, or more than 256 names.
 */
export function normalizePath(path: string): string {
  if (path === lastNormal) return path
  const normal = isPlain(path) ? path : resolveNames(path)
  checkLength(normal, path)
  lastNormal = normal
  return normal
}

/** Tool, policy and provider each normalise the path of one call: only the first has work to do. */
let lastNormal = '/'

/** Names of a normalised path; 0 for the root. */
export function pathDepth(path: string): number {
  if (path === '/') return 0
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1
  return depth
}

/**
 * Whether a path may be used: within 4,096 bytes and 256 names. Commands can make what is longer;
 * walks leave it out and say so.
 *
 * @param path absolute, without empty names.
 */
export function fitsPathLimits(path: string): boolean {
  // A name and its slash are at least 2 units, a unit is at most 3 bytes.
  if (path.length <= MAX_PATH_DEPTH * 2 && path.length * 3 <= MAX_PATH_BYTES) return true
  return pathDepth(path) <= MAX_PATH_DEPTH && utf8Length(path) <= MAX_PATH_BYTES
}

/** The deepest and the longest of the paths below a directory, relative to it. */
export interface SubtreeExtent {
  /** Names below the directory; 0 when it is empty. */
  readonly depth: number
  /** UTF-8 bytes below the directory, with the slash after it; 0 when it is empty. */
  readonly bytes: number
}

/**
 * Rejects a copy or a move of a directory that would nest past the limits of paths.
 * @param target normalised; where the directory is to be.
 * @throws {FileSystemError} `invalid-path`.
 */
export function checkSubtreeFits(target: string, extent: SubtreeExtent): void {
  const depth = pathDepth(target) + extent.depth
  if (depth > MAX_PATH_DEPTH) {
    throw new FileSystemError('invalid-path', target, {
      detail: `a path below it would have ${depth} names, and at most ${MAX_PATH_DEPTH} are allowed`,
    })
  }
  if (utf8Length(target) + extent.bytes > MAX_PATH_BYTES) {
    throw new FileSystemError('invalid-path', target, {
      detail: `a path below it would be longer than ${MAX_PATH_BYTES} bytes`,
    })
  }
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
  // Each name has a slash before it.
  if (normal.length >= MAX_PATH_DEPTH * 2 && pathDepth(normal) > MAX_PATH_DEPTH) {
    throw new FileSystemError('invalid-path', path, {
      detail: `it has more than ${MAX_PATH_DEPTH} names`,
    })
  }
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
