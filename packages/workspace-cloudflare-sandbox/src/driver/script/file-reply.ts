import { decodeBase64 } from '@helix-agents/core'
import { DriverError, type DriverErrorCode } from '../driver-error.ts'
import type { DriverEntry } from '../port.ts'
import type { ScriptReply } from './reply.ts'

const TYPE_BITS = 0xf000
const TYPES: Readonly<Record<number, DriverEntry['type']>> = {
  0x8000: 'file',
  0x4000: 'directory',
  0xa000: 'symlink',
}
const LETTERS: ReadonlyMap<string, DriverEntry['type']> = new Map(
  Object.entries<DriverEntry['type']>({
    f: 'file',
    d: 'directory',
    l: 'symlink',
  }),
)

/** Reads `ok MODE SIZE TIME INODE CHANGE`. */
export function readEntry({ fields }: ScriptReply, path: string): DriverEntry {
  const [mode = '', size = '', time = '', inode = '', change = ''] = fields
  const type = TYPES[Number.parseInt(mode, 16) & TYPE_BITS] ?? 'other'
  return toEntry({ path, type, size, time, inode, change })
}

/** Reads a listing: NUL-ended `LETTER SIZE TIME INODE CHANGE PATH` in base64. Sorted by path. */
export function readEntries({ payload }: ScriptReply): readonly DriverEntry[] {
  const entries = readNames(payload).map((line) => {
    const [letter = '', size = '', time = '', inode = '', change = '', ...path] = line.split(' ')
    const type = LETTERS.get(letter) ?? 'other'
    const times = { time: time.slice(0, -1), change: change.slice(0, -1) }
    return toEntry({ path: path.join(' '), type, size, inode, ...times })
  })
  return entries.toSorted((a, b) => compare(a.path, b.path))
}

/** Reads NUL-ended names in base64; one that is no UTF-8 comes with replacement characters. */
export function readNames(payload: string): readonly string[] {
  return decodeText(payload.trim())
    .split('\0')
    .filter((name) => name !== '')
}

/** Text in base64, as it is: a byte order mark is a character like any other. */
export function decodeText(encoded: string): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(decodeBase64(encoded))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

interface RawEntry {
  readonly path: string
  readonly type: DriverEntry['type']
  readonly size: string
  /** Seconds with nine decimals. */
  readonly time: string
  readonly inode: string
  /** When anything about it changed, as the time. */
  readonly change: string
}

function toEntry({ path, type, size, time, inode, change }: RawEntry): DriverEntry {
  return {
    path,
    type,
    sizeBytes: type === 'file' ? Number(size) : 0,
    modifiedAtMs: Math.floor(Number(time) * 1000),
    version: `${inode}-${size}-${time}-${change}`,
  }
}

const FAILURES: ReadonlyMap<string, readonly [DriverErrorCode, string]> = new Map(
  Object.entries<readonly [DriverErrorCode, string]>({
    'not-found': ['not-found', 'nothing has this path'],
    exists: ['exists', 'something has this path already'],
    'is-directory': ['is-directory', 'this is a directory'],
    'not-directory': ['not-directory', 'this is no directory'],
    'not-empty': ['not-empty', 'the directory is not empty'],
    'too-large': ['too-large', 'the file is larger than allowed'],
    'version-conflict': ['version-conflict', 'the file was changed in the meantime'],
    denied: ['denied', 'access is refused'],
    special: ['denied', 'this is no ordinary file'],
    escape: ['path-escape', 'a link leads out of the workspace'],
    nested: ['name-too-long', 'what lies below it is nested past the limits of paths'],
    'into-itself': ['failed', 'a directory cannot go into itself'],
  }),
)

/** What the system says, in the words of the C library, and what it means. */
const SYSTEM_FAILURES: readonly (readonly [RegExp, DriverErrorCode])[] = [
  [/No space left|Disk quota exceeded|Too many open files/, 'storage-full'],
  [/Read-only file system/, 'read-only'],
  [/File name too long/, 'name-too-long'],
  [/File too large/, 'too-large'],
  [/Permission denied|Operation not permitted/, 'denied'],
  [/Not a directory/, 'not-directory'],
  [/Is a directory/, 'is-directory'],
  [/Directory not empty/, 'not-empty'],
  [/File exists/, 'exists'],
  [/No such file or directory/, 'not-found'],
]

/**
 * The error of an answer that is none of success.
 * @param stderr What the commands of the script complained about.
 */
export function failureOf({ status, fields }: ScriptReply, stderr: string): DriverError {
  const [what = '', more = ''] = fields
  if (status === 'cold') return coldError()
  if (status === 'directory') return directoryError(fields)
  if (what === 'root' && more === 'link') return directoryError(['link', 'link'])
  if (what === 'root') return directoryError(['file', 'file'])
  const [code, detail] = FAILURES.get(what) ?? systemFailure(stderr)
  return new DriverError(code, detail, { admitted: 'yes' })
}

/** Another container than the one that `ensure` saw answers; nothing was done. */
export function coldError(): DriverError {
  return new DriverError('interrupted', 'the container was started anew and its files are gone', {
    admitted: 'no',
    reason: 'asleep',
  })
}

/** @param states Of the directory asked for, and of the workspace: missing, file, link. */
export function directoryError([
  own = 'missing',
  root = 'directory',
]: readonly string[]): DriverError {
  return new DriverError('directory-missing', directoryDetail(own, root), { admitted: 'no' })
}

function directoryDetail(own: string, root: string): string {
  if (root === 'file') {
    return 'the workspace directory was replaced by a file: move the file away, then make the directory again'
  }
  if (root === 'link') {
    return 'the workspace directory was replaced by a link that leads nowhere: remove the link, then make the directory again'
  }
  if (own === 'file') return 'the working directory is a file: choose another directory'
  if (own === 'link') return 'the working directory is a link that leads nowhere'
  return 'the working directory does not exist: make it first, or choose another one'
}

function systemFailure(stderr: string): readonly [DriverErrorCode, string] {
  const known = SYSTEM_FAILURES.find(([pattern]) => pattern.test(stderr))
  if (known === undefined) return ['failed', 'the container could not do it']
  return [known[1], `the container says: ${known[0].exec(stderr)?.[0] ?? ''}`]
}
