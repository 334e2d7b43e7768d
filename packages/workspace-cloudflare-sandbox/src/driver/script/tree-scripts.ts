import type { DriverMode, TransferOptions } from '../port.ts'
import { compose, limit } from './compose.ts'

/** The script that describes what a path leads to. */
export function statScript(path: string): string {
  return compose({ path }, 'stat')
}

/** The script that answers with the path relative to the workspace, whatever of it is missing. */
export function realPathScript(path: string, followLast: boolean): string {
  return compose({ path, last: followLast }, 'real-path')
}

/** The script that describes several paths. */
export function statManyScript(paths: readonly string[]): string {
  return compose({ paths }, 'stat-many')
}

/** The script that sets the permissions of several paths. */
export function writeModesScript(modes: readonly DriverMode[]): string {
  const values = {
    paths: modes.map(({ path }) => path),
    modes: modes.map(({ mode }) => mode.toString(8)),
  }
  return compose(values, 'write-modes')
}

export interface ListScriptOptions {
  readonly isRecursive: boolean
  readonly maxEntries: number
  readonly skip: string | undefined
}

/** The script that lists a directory; one entry more than allowed shows that there are too many. */
export function listScript(
  path: string,
  { isRecursive, maxEntries, skip }: ListScriptOptions,
): string {
  const most = maxEntries + 1
  return compose({ path, recursive: isRecursive, most, skip: patternOf(skip) }, 'list')
}

/** Matches a path as it is spelled. */
function patternOf(path: string | undefined): string | undefined {
  return path?.replaceAll(/[\\[\]*?]/g, String.raw`\$&`)
}

/** The script that makes a directory. */
export function makeDirectoryScript(path: string, isRecursive: boolean): string {
  return compose({ path, recursive: isRecursive }, 'make-directory')
}

/** The script that removes; of the workspace itself, what is in it. */
export function removeScript(path: string, isRecursive: boolean): string {
  return compose({ path, recursive: isRecursive }, 'remove')
}

/** The script that copies a file, or a directory with everything in it. */
export function copyScript(from: string, to: string, options: TransferOptions): string {
  return compose(transferOf(from, to, options), 'transfer', 'copy')
}

/** The script that moves a file or a directory; a link is moved as a link. */
export function moveScript(from: string, to: string, options: TransferOptions): string {
  return compose(transferOf(from, to, options), 'transfer', 'move')
}

function transferOf(from: string, to: string, { overwrite, below }: TransferOptions) {
  return { from, to, overwrite, depth: below?.depth, bytes: below?.bytes }
}

/** The script that reads a link. */
export function readLinkScript(path: string): string {
  return compose({ path }, 'read-link')
}

/** The script that makes a link. */
export function makeLinkScript(path: string, target: string): string {
  return compose({ path, target }, 'make-link')
}

export interface SearchScriptQuery {
  readonly literal: string
  readonly ignoreCase: boolean
  readonly maxFileBytes: number
  readonly maxFiles: number
  readonly skip?: string
}

/** The script that finds the files which hold a literal, each byte read once. */
export function searchScript(path: string, query: SearchScriptQuery): string {
  const { ignoreCase, maxFileBytes, maxFiles, skip } = query
  const values = {
    path,
    literal: searchable(query),
    flags: `-laFZs${ignoreCase ? 'i' : ''}`,
    most: limit(Math.floor(maxFileBytes)),
    count: maxFiles + 1,
    skip: patternOf(skip),
  }
  return compose(values, 'search')
}

/** `grep` folds the case of ASCII letters only: for others every file is a candidate. */
function searchable({ literal, ignoreCase }: SearchScriptQuery): string {
  // oxlint-disable-next-line no-control-regex
  const isAscii = /^[\x01-\x7F]*$/.test(literal)
  return literal.includes('\0') || (ignoreCase && !isAscii) ? '' : literal
}
