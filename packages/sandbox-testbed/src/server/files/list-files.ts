import { type BigIntStats, lstatSync, readdirSync, statSync } from 'node:fs'
import { timestamp } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import { notFound, toFileError } from './file-error.ts'
import type { NamedFile } from './read-file.ts'

export interface ListOptions {
  readonly recursive?: boolean
  readonly includeHidden?: boolean
}

/** One line of a listing. */
export interface ListedFile {
  readonly name: string
  readonly absolutePath: string
  readonly relativePath: string
  readonly type: 'directory' | 'file' | 'other' | 'symlink'
  readonly size: number
  /** Local time without a zone, finer than a millisecond. */
  readonly modifiedAt: string
  /** Octal digits. */
  readonly mode: string
  readonly permissions: {
    readonly readable: boolean
    readonly writable: boolean
    readonly executable: boolean
  }
}

/**
 * Lists a directory. A link to one is none, unless a slash follows its name.
 * @throws {ServiceError} `FILE_NOT_FOUND`, `NOT_DIRECTORY`.
 */
export function listDirectory(file: NamedFile, options: ListOptions): object {
  const place = { operation: 'list', path: file.path }
  if (statSync(file.resolved, { throwIfNoEntry: false }) === undefined) throw notFound(place)
  if (!lstatSync(file.resolved).isDirectory()) {
    throw new ServiceError('NOT_DIRECTORY', `not a directory: ${file.path}`, place)
  }
  try {
    const files = [...walk(file.resolved.replace(/\/+$/, ''), '', options)]
    const { path } = file
    return { success: true, path, files, count: files.length, timestamp: timestamp(), exitCode: 0 }
  } catch (error) {
    throw toFileError(error, place)
  }
}

function* walk(root: string, below: string, options: ListOptions): Generator<ListedFile> {
  const directory = below === '' ? root : `${root}/${below}`
  for (const name of readdirSync(directory === '' ? '/' : directory)) {
    if (options.includeHidden !== true && name.startsWith('.')) continue
    const relativePath = below === '' ? name : `${below}/${name}`
    const stats = lstatSync(`${root}/${relativePath}`, { bigint: true, throwIfNoEntry: false })
    // Removed by now.
    if (stats === undefined) continue
    yield listed(stats, { name, absolutePath: `${root}/${relativePath}`, relativePath })
    if (options.recursive === true && stats.isDirectory()) yield* walk(root, relativePath, options)
  }
}

function listed(
  stats: BigIntStats,
  names: Pick<ListedFile, 'absolutePath' | 'name' | 'relativePath'>,
): ListedFile {
  const mode = Number(stats.mode & 0o7777n)
  return {
    ...names,
    type: typeOf(stats),
    size: Number(stats.size),
    modifiedAt: zonelessTime(stats.mtimeNs),
    mode: mode.toString(8),
    permissions: {
      readable: (mode & 0o400) !== 0,
      writable: (mode & 0o200) !== 0,
      executable: (mode & 0o100) !== 0,
    },
  }
}

function typeOf(stats: BigIntStats): ListedFile['type'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

/** As the tool of the real image writes it: ten digits after the point, the last one zero. */
function zonelessTime(nanoseconds: bigint): string {
  const seconds = new Date(Number(nanoseconds / 1_000_000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(nanoseconds % 1_000_000_000n).padStart(9, '0')}0`
}
