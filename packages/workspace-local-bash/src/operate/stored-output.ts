import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { INTERNAL_DIRECTORY } from '@helix-agents/core/provider'
import { errnoOf } from '../file-system/map-error.ts'
import { ANCHOR_NO_LINK, READ } from '../file-system/path/open-flags.ts'
import { PinnedDirectory } from '../file-system/path/pinned-directory.ts'

const MAX_FILES = 8
const TAIL_BYTES = 16 * 1024

/** Where outputs lie, from the directory of the workspace on, and what they are of. */
const PLACES: readonly (readonly [names: readonly string[], what: string])[] = [
  [['scratch'], 'running'],
  [['scratch', 'background'], 'background'],
  [['root', ...INTERNAL_DIRECTORY.split('/').filter((name) => name !== ''), 'output'], 'stored'],
]

interface StoredFile {
  readonly title: string
  readonly text: string
  readonly writtenMs: number
}

/**
 * The ends of the outputs that are on disk, the one that was written last at the end: those of
 * background processes, and those of commands that wrote more than is returned at once. Links
 * that a command put in their place are not followed.
 */
export function readStoredOutput(path: string): string {
  const files = PLACES.flatMap(([names, what]) => readPlace(path, names, what))
  files.sort((a, b) => a.writtenMs - b.writtenMs)
  return files
    .slice(-MAX_FILES)
    .map(({ text, title }) => `[${title}]\n${text.replace(/\n?$/, '\n')}`)
    .join('')
}

function readPlace(path: string, names: readonly string[], what: string): StoredFile[] {
  const directory = openPlace(path, names)
  if (directory === undefined) return []
  try {
    const found = readdirSync(directory.self).filter((name) => /^\w+\.std(?:out|err)$/.test(name))
    return newest(directory, found).flatMap((name) =>
      readEnd(directory, name, `${what} ${name.replace('.', ' ')}`),
    )
  } finally {
    directory.close()
  }
}

/** Of thousands only those are read that may be shown. */
function newest(directory: PinnedDirectory, names: readonly string[]): readonly string[] {
  const times = new Map(
    names.map((name) => {
      const stats = lstatSync(directory.at(name), { throwIfNoEntry: false })
      return [name, stats?.mtimeMs ?? 0] as const
    }),
  )
  const timeOf = (name: string): number => times.get(name) ?? 0
  return names.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-MAX_FILES)
}

/** Each step rejects links. */
function openPlace(path: string, names: readonly string[]): PinnedDirectory | undefined {
  try {
    return descend(PinnedDirectory.open(path, ANCHOR_NO_LINK), names)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function descend(directory: PinnedDirectory, names: readonly string[]): PinnedDirectory {
  const [name, ...rest] = names
  if (name === undefined) return directory
  try {
    return descend(directory.child(name), rest)
  } finally {
    directory.close()
  }
}

function readEnd(directory: PinnedDirectory, name: string, title: string): StoredFile[] {
  let fd: number
  try {
    fd = openSync(directory.at(name), READ)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size === 0) return []
    const start = Math.max(0, stats.size - TAIL_BYTES)
    const bytes = new Uint8Array(Math.min(stats.size, TAIL_BYTES))
    const length = readSync(fd, bytes, 0, bytes.length, start)
    const whole = new TextDecoder().decode(bytes.subarray(0, length))
    // A line that was cut tells less than none.
    const text = start === 0 ? whole : whole.slice(whole.indexOf('\n') + 1)
    return [{ title, text, writtenMs: stats.mtimeMs }]
  } finally {
    closeSync(fd)
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES'].includes(errnoOf(error) ?? '')
}
