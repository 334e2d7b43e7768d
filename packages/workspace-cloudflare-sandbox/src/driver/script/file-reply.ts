import { createSearchPace, decodeBase64 } from '@helix-agents/core/provider'
import { DriverError, type DriverErrorCode } from '../driver-error.ts'
import type { DriverEntry, DriverMode } from '../port.ts'
import type { ScriptReply } from './reply.ts'

const TYPE_BITS = 0xf000
const PERMISSION_BITS = 0o777
const TYPES: Readonly<Record<number, DriverEntry['type']>> = {
  0x8000: 'file',
  0x4000: 'directory',
  0xa000: 'symlink',
}
const LETTERS: ReadonlyMap<string | undefined, DriverEntry['type']> = new Map(
  Object.entries<DriverEntry['type']>({
    f: 'file',
    d: 'directory',
    l: 'symlink',
  }),
)

/** Reads `ok MODE SIZE TIME INODE CHANGE`. */
export function readEntry({ fields }: Pick<ScriptReply, 'fields'>, path: string): DriverEntry {
  const [mode = '', size = '', time = '', inode = '', change = ''] = fields
  const type = TYPES[Number.parseInt(mode, 16) & TYPE_BITS] ?? 'other'
  return toEntry({ path, type, size, time, inode, change })
}

/** Reads a line `MODE SIZE TIME INODE CHANGE`; undefined for `-`. */
export function readStatus(line: string, path: string): (DriverEntry & DriverMode) | undefined {
  if (line === '-') return undefined
  const entry = readEntry({ fields: line.split(' ') }, path)
  return { ...entry, mode: Number.parseInt(line, 16) & PERMISSION_BITS }
}

/** Reads a listing: NUL-ended `LETTER SIZE TIME INODE CHANGE PATH` in base64, in no order. */
export async function readEntries(
  { payload }: ScriptReply,
  signal: AbortSignal | undefined,
): Promise<readonly DriverEntry[]> {
  const entries: DriverEntry[] = []
  await eachName(payload, signal, (line) => entries.push(readLine(line)))
  return entries
}

function readLine(line: string): DriverEntry {
  const [letter, size = '', time = '', inode = '', change = '', ...path] = line.split(' ')
  const type = LETTERS.get(letter) ?? 'other'
  const times = { time: time.slice(0, -1), change: change.slice(0, -1) }
  return toEntry({ path: path.join(' '), type, size, inode, ...times })
}

/** Characters of base64 that are decoded in one stretch: a multiple of four. */
const STRETCH = 16_384
/** Work of a character, in units of about 20 ns. */
const UNITS_PER_CHARACTER = 2

/**
 * Visits NUL-ended names in base64, and yields to other work: there may be a hundred
 * thousand. A name that is no UTF-8 has replacement characters.
 */
export async function eachName(
  encoded: string,
  signal: AbortSignal | undefined,
  visit: (name: string) => void,
): Promise<void> {
  const text = encoded.trim()
  const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
  const pace = createSearchPace()
  let open = ''
  for (let start = 0; start < text.length; start += STRETCH) {
    const bytes = decodeBase64(text.slice(start, start + STRETCH))
    const names = (open + decoder.decode(bytes, { stream: true })).split('\0')
    open = names.pop() ?? open
    for (const name of names) visit(name)
    await pace.rest(STRETCH * UNITS_PER_CHARACTER, signal)
  }
  if (open !== '') visit(open)
}

/** Text in base64, as it is: a byte order mark is a character like any other. */
export function decodeText(encoded: string): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(decodeBase64(encoded))
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

const FAILURES: ReadonlyMap<string | undefined, readonly [DriverErrorCode, string]> = new Map(
  Object.entries<readonly [DriverErrorCode, string]>({
    'not-found': ['not-found', 'nothing has this path'],
    exists: ['exists', 'something has this path already'],
    'is-directory': ['is-directory', 'this is a directory'],
    'not-directory': ['not-directory', 'this is no directory'],
    'not-empty': ['not-empty', 'the directory is not empty'],
    'too-large': ['too-large', 'the file is larger than allowed'],
    'version-conflict': ['version-conflict', 'the file was changed in the meantime'],
    denied: ['denied', 'permission denied'],
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
  const [what, more] = fields
  if (status === 'cold') return coldError()
  if (status === 'directory') return directoryError(what, more)
  if (what === 'root') return directoryError(undefined, more ?? 'file')
  const known = FAILURES.get(what)
  if (known === undefined) return systemError(stderr)
  return new DriverError(...known, { admitted: 'yes' })
}

/** What a program of the system complained about, such as a file that was removed in between. */
export function systemError(stderr: string): DriverError {
  for (const [pattern, code] of SYSTEM_FAILURES) {
    const [said] = pattern.exec(stderr) ?? []
    if (said === undefined) continue
    return new DriverError(code, `the container says: ${said}`, { admitted: 'yes' })
  }
  return new DriverError('failed', 'the container could not do it', { admitted: 'yes' })
}

/** Another container than the one that `ensure` saw answers; nothing was done. */
export function coldError(): DriverError {
  return new DriverError('interrupted', 'the container was started anew and its files are gone', {
    admitted: 'no',
    reason: 'asleep',
  })
}

/** @param own State of the directory asked for: missing, file or link. @param root Of the workspace. */
function directoryError(own: string | undefined, root: string | undefined): DriverError {
  return new DriverError('directory-missing', directoryDetail(own, root), { admitted: 'no' })
}

function directoryDetail(own: string | undefined, root: string | undefined): string {
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
