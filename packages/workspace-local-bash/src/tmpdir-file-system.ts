import { realpathSync } from 'node:fs'
import { systemClock } from '@helix-agents/core'
import {
  checkTransferFits,
  type FileAttributes,
  type FileEntry,
  type FileStat,
  type FileSystem,
  type GlobOptions,
  type GrepOptions,
  type GrepResult,
  normalizePath,
  type ReadStreamOptions,
  toBytes,
  type TransferOptions,
  type WriteOptions,
} from '@helix-agents/core/provider'
import { createAttributes } from './file-system/file-attributes.ts'
import { Containment } from './file-system/path/containment.ts'
import { type FileContext, ProvenFiles } from './file-system/file-context.ts'
import { listDirectory } from './file-system/list-directory.ts'
import { makeDirectory } from './file-system/make-directory.ts'
import { statPath } from './file-system/open-file.ts'
import { type FileReader, openReader, readSmallText, readWhole } from './file-system/read-file.ts'
import { removePath } from './file-system/tree/remove-tree.ts'
import { globFiles, grepFiles } from './file-system/search-files.ts'
import { copyPath, movePath } from './file-system/transfer.ts'
import { toFileStat, Versions } from './file-system/version.ts'
import { append, writeStreamed, writeWhole } from './file-system/write-file.ts'

/** Most times that a file which keeps changing is checked. */
const MAX_STATS = 8

/** What a {@link TmpdirFileSystem} works on. */
export interface TmpdirFileSystemOptions {
  /** The directory on the host that is `/`. Links in its own path are resolved once, now. */
  readonly root: string
  /** A directory on the same file system, outside of the root, for unfinished files. */
  readonly scratch: string
  /** The root as the shell sees it, when that is not its path on the host. */
  readonly shellRoot?: string
  /** Largest file that may be written, in bytes. Default: no limit. */
  readonly maxFileBytes?: number
  /**
   * Makes missing directories again.
   * @throws {WorkspaceEvictedError} `lost` when the workspace as a whole is gone.
   */
  restore(): void
}

/**
 * Files in a directory of the host. No path and no race leads out of it: every file and
 * directory is used through a descriptor that was proven to lie inside.
 *
 * Whole files are written aside and renamed, so hard links to an overwritten file keep the old
 * content; its permissions are kept. Pipes, sockets and devices are rejected.
 */
export class TmpdirFileSystem implements FileSystem {
  readonly #options: TmpdirFileSystemOptions
  readonly #context: FileContext
  readonly #readers: Set<FileReader>

  /** @param shared What a view on the same files is made of. */
  constructor(options: TmpdirFileSystemOptions, shared?: SharedFiles) {
    this.#options = options
    this.#readers = shared?.readers ?? new Set()
    this.#context = shared?.context ?? createContext(options)
  }

  /** Links and permissions, for snapshots. */
  get attributes(): FileAttributes {
    return createAttributes(this.#context)
  }

  /** What the shell shares with the file system: the way from paths to the host. */
  get context(): FileContext {
    return this.#context
  }

  async readFile(path: string): Promise<Uint8Array> {
    return readWhole(this.#context, normalizePath(path))
  }

  async readText(path: string): Promise<string> {
    const normal = normalizePath(path)
    const text = readSmallText(this.#context, normal)
    if (text !== undefined) return text
    const bytes = await readWhole(this.#context, normal)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  }

  async writeFile(
    path: string,
    data: Uint8Array | string,
    options: WriteOptions = {},
  ): Promise<FileStat> {
    return writeWhole(this.#context, normalizePath(path), { bytes: encode(data), options })
  }

  async appendFile(path: string, data: Uint8Array | string): Promise<FileStat> {
    return append(this.#context, normalizePath(path), encode(data))
  }

  async ls(path: string): Promise<FileEntry[]> {
    return listDirectory(this.#context, normalizePath(path))
  }

  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    const path = normalizePath(options.path ?? '/')
    return globFiles(this.#context, pattern, { path, options })
  }

  async grep(pattern: string, options: GrepOptions = {}): Promise<GrepResult> {
    const path = normalizePath(options.path ?? '/')
    return grepFiles(this.#context, pattern, { path, options })
  }

  async stat(path: string): Promise<FileStat> {
    const normal = normalizePath(path)
    let stats = statPath(this.#context, normal)
    for (let count = 1; count < MAX_STATS; count += 1) {
      const waitMs = this.#context.versions.unsafeForMs(stats, Date.now())
      if (waitMs <= 0) break
      await systemClock.sleep(Math.ceil(waitMs))
      stats = statPath(this.#context, normal)
    }
    return toFileStat(normal, stats)
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    makeDirectory(this.#context, normalizePath(path), options.recursive === true)
  }

  async rm(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    return removePath(this.#context, normalizePath(path), options.recursive === true)
  }

  async copy(from: string, to: string, options: TransferOptions = {}): Promise<void> {
    const transfer = { from: normalizePath(from), to: normalizePath(to), options }
    await checkTransferFits(this, transfer.from, transfer.to)
    return copyPath(this.#context, transfer)
  }

  async move(from: string, to: string, options: TransferOptions = {}): Promise<void> {
    const transfer = { from: normalizePath(from), to: normalizePath(to), options }
    await checkTransferFits(this, transfer.from, transfer.to)
    return movePath(this.#context, transfer)
  }

  async readStream(
    path: string,
    options: ReadStreamOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return openReader(this.#context, normalizePath(path), { range: options, open: this.#readers })
  }

  async writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options: WriteOptions = {},
  ): Promise<FileStat> {
    return writeStreamed(this.#context, normalizePath(path), { source, options })
  }

  async realPath(path: string, options: { readonly followLast?: boolean } = {}): Promise<string> {
    return this.#context.containment.realPath(normalizePath(path), options.followLast !== false)
  }

  /** The same files, for paths without links. */
  withoutLinks(): FileSystem {
    const containment = this.#context.containment.withoutLinks()
    // A file that was proven to lie inside may have been reached through a link.
    const context = { ...this.#context, containment, proven: new ProvenFiles(false) }
    return new TmpdirFileSystem(this.#options, { context, readers: this.#readers })
  }

  /** Closes files that unfinished streams hold open. */
  release(): void {
    for (const reader of this.#readers) reader.close()
  }
}

interface SharedFiles {
  readonly context: FileContext
  readonly readers: Set<FileReader>
}

function createContext(options: TmpdirFileSystemOptions): FileContext {
  const root = realpathSync.native(options.root)
  const restoreRoot = (): void => options.restore()
  const { shellRoot, scratch } = options
  const versions = new Versions(scratch)
  return {
    containment: new Containment({
      root,
      restoreRoot,
      ...(shellRoot !== undefined && { shellRoot }),
    }),
    versions,
    proven: new ProvenFiles(versions.isFine),
    scratch,
    maxFileBytes: options.maxFileBytes ?? Number.POSITIVE_INFINITY,
    restore: restoreRoot,
  }
}

/** Text of this size is encoded several times faster by Node's own encoder. */
function encode(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : toBytes(data)
}
