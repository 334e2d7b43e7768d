import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import {
  baseName,
  compileGlob,
  compileSearch,
  type GlobOptions,
  GrepCollector,
  type GrepOptions,
  type GrepResult,
  INTERNAL_DIRECTORY,
  joinPath,
  type TextSearch,
} from '@helix-agents/core/provider'
import type { FileContext } from './file-context.ts'
import { toFileSystemError } from './map-error.ts'
import { openFile, statPath } from './open-file.ts'
import { READ } from './path/open-flags.ts'
import { type FoundFile, isOutOfReach, walkFiles } from './tree/walk-files.ts'

const FIRST_BUFFER_BYTES = 1024 * 1024

/** Paths of the files that match, sorted. A link to a file of the workspace counts as a file. */
export async function globFiles(
  context: FileContext,
  pattern: string,
  search: { readonly path: string; readonly options: GlobOptions },
): Promise<string[]> {
  const { path, options } = search
  options.signal?.throwIfAborted()
  const matcher = compileGlob(pattern)
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const found: string[] = []
  const isFile = (file: FoundFile, filePath: string): boolean =>
    file.kind === 'file' || leadsToFile(context, filePath)
  const hidden = hiddenDirectory(path)
  const start = context.containment.openDirectory(path)
  if (limit <= 0) return closeAndReturn(start, found)
  await walkFiles(
    start,
    {
      enters: (directory) => directory !== hidden && matcher.mayContain(directory),
      visit: (file) => {
        if (!matcher.matches(file.relativePath)) return true
        const filePath = joinPath(path, file.relativePath)
        if (isFile(file, filePath)) found.push(filePath)
        return found.length < limit
      },
    },
    { path, signal: options.signal },
  )
  return found
}

function closeAndReturn<T>(directory: { close(): void }, result: T): T {
  directory.close()
  return result
}

/** Matching lines of the text files below a path; links are not followed on the way. */
export async function grepFiles(
  context: FileContext,
  pattern: string,
  search: { readonly path: string; readonly options: GrepOptions },
): Promise<GrepResult> {
  const { path, options } = search
  options.signal?.throwIfAborted()
  const collector = new GrepCollector(options)
  const scanner = new FileScanner(await compileSearch(pattern, options), collector)
  if (!statPath(context, path).isDirectory()) {
    const { fd } = openFile(context, path)
    await scanner.scanOpen(path, fd)
    return collector.result()
  }
  const hidden = hiddenDirectory(path)
  await walkFiles(
    context.containment.openDirectory(path),
    {
      enters: (directory) => directory !== hidden,
      skip: (below) => collector.skipDeep(below === '' ? path : joinPath(path, below)),
      visit: (file) => {
        if (file.kind !== 'file') return true
        const pending = scanner.scan(file, joinPath(path, file.relativePath))
        return pending === undefined ? !collector.full : pending.then(() => !collector.full)
      },
    },
    { path, signal: options.signal },
  )
  return collector.result()
}

/** The framework's own directory, relative to a search of everything. */
function hiddenDirectory(path: string): string | undefined {
  return path === '/' ? baseName(INTERNAL_DIRECTORY) : undefined
}

function leadsToFile(context: FileContext, path: string): boolean {
  try {
    return statPath(context, path).isFile()
  } catch (error) {
    if (FileSystemError.isInstance(error)) return false
    throw error
  }
}

/** Reads files into one buffer and looks for the literal before it decodes anything. */
class FileScanner {
  readonly #search: TextSearch
  readonly #collector: GrepCollector
  readonly #literal: Buffer | undefined
  #buffer: Buffer

  constructor(search: TextSearch, collector: GrepCollector) {
    this.#search = search
    this.#collector = collector
    const literal = search.requiredLiteral
    const isUsable = literal !== undefined && !literal.ignoreCase
    this.#literal = isUsable ? Buffer.from(literal.text) : undefined
    this.#buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES)
  }

  scan(file: FoundFile, path: string): Promise<void> | undefined {
    if (!this.#search.includes(path)) return undefined
    let fd: number
    try {
      fd = openSync(file.directory.at(file.name), READ)
    } catch (error) {
      if (isOutOfReach(error)) return undefined
      throw toFileSystemError(error, path)
    }
    return this.scanOpen(path, fd)
  }

  /** Closes the file. */
  scanOpen(path: string, fd: number): Promise<void> | undefined {
    try {
      const length = this.#load(fd)
      if (length !== undefined) return this.#scanBytes(path, this.#buffer.subarray(0, length))
      this.#collector.skipLarge(path)
      return undefined
    } catch (error) {
      throw toFileSystemError(error, path)
    } finally {
      closeSync(fd)
    }
  }

  #scanBytes(path: string, bytes: Buffer): Promise<void> | undefined {
    if (bytes.includes(0)) {
      this.#collector.skipBinary(path)
      return undefined
    }
    if (this.#literal !== undefined && !bytes.includes(this.#literal)) return undefined
    return this.#search.search(path, bytes.toString('utf8'), this.#collector)
  }

  /** Fills the buffer with a file; undefined when it is over the limit. */
  #load(fd: number): number | undefined {
    const { maxFileBytes } = this.#collector
    const first = readSync(fd, this.#buffer, 0, this.#buffer.length, 0)
    if (first > maxFileBytes) return undefined
    if (first < this.#buffer.length) return first
    const { size } = fstatSync(fd)
    if (size > maxFileBytes) return undefined
    if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size)
    return readSync(fd, this.#buffer, 0, size, 0)
  }
}
