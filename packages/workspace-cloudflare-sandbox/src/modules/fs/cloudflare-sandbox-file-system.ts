import { FileSystemError, WorkspaceFailedError } from '@helix-agents/core'
import {
  type FileAttributes,
  type FileEntry,
  type FileStat,
  type FileSystem,
  type GlobOptions,
  type GrepOptions,
  type GrepResult,
  isWithin,
  MAX_PATH_BYTES,
  MAX_PATH_DEPTH,
  normalizePath,
  pathDepth,
  type ReadStreamOptions,
  toBytes,
  type TransferOptions,
  utf8Length,
  type WriteOptions,
} from '@helix-agents/core/provider'
import { WORKSPACE_ROOT } from '../../config.ts'
import { toContainerPath, toWorkspacePath } from '../container-path.ts'
import type { SandboxDriver, TransferOptions as DriverTransferOptions } from '../../driver/port.ts'
import { SandboxAttributes } from './attributes.ts'
import { toFileEntries, toFileStat } from './entries.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { LimitedSource, mapStreamErrors } from './streams.ts'
import type { FileCalls, LiveSandbox } from '../../lifecycle/live-sandbox.ts'

export interface SandboxFileLimits {
  /** Largest file that may be made, in bytes. */
  readonly maxFileBytes: number
  /** Larger files are only read as streams or in ranges, in bytes. */
  readonly maxWholeReadBytes: number
  /** Files of a tree that a search covers. */
  readonly maxSearchedFiles: number
}

type TransferMethod = 'copy' | 'move'

/**
 * The files below `/workspace` of a container, over one round trip a call. What leads out of it
 * is rejected in the container itself, where no race can come between.
 */
export class CloudflareSandboxFileSystem implements FileSystem {
  /** Links and permissions, where the driver has them. */
  readonly attributes?: FileAttributes
  readonly #live: LiveSandbox
  readonly #sandbox: FileCalls
  readonly #limits: SandboxFileLimits

  /** @param calls How files are called. Default: links inside the workspace are followed. */
  constructor(live: LiveSandbox, limits: SandboxFileLimits, calls: FileCalls = live) {
    this.#live = live
    this.#sandbox = calls
    this.#limits = limits
    if (live.hasAttributes) this.attributes = new SandboxAttributes(live.withoutLinks())
  }

  async readFile(path: string): Promise<Uint8Array> {
    const normal = normalizePath(path)
    const maxBytes = this.#limits.maxWholeReadBytes
    return this.#sandbox.callFile(normal, ({ files }) =>
      files.read(toContainerPath(normal), { maxBytes }),
    )
  }

  async writeFile(
    path: string,
    data: Uint8Array | string,
    options: WriteOptions = {},
  ): Promise<FileStat> {
    const normal = normalizeFile(path)
    const bytes = this.#encode(normal, data)
    const entry = await this.#sandbox.callFile(normal, ({ files }) =>
      files.write(toContainerPath(normal), bytes, options),
    )
    return toFileStat(normal, entry)
  }

  async appendFile(path: string, data: Uint8Array | string): Promise<FileStat> {
    const normal = normalizeFile(path)
    const bytes = this.#encode(normal, data)
    const maxBytes = this.#limits.maxFileBytes
    const limit = maxBytes === Number.POSITIVE_INFINITY ? {} : { maxBytes }
    const entry = await this.#sandbox.callFile(normal, ({ files }) =>
      files.append(toContainerPath(normal), bytes, limit),
    )
    return toFileStat(normal, entry)
  }

  async ls(path: string): Promise<FileEntry[]> {
    const normal = normalizePath(path)
    const entries = await this.#sandbox.callFile(normal, ({ files }) =>
      files.list(toContainerPath(normal)),
    )
    return toFileEntries(normal, entries)
  }

  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    return glob(this.#sandbox, pattern, { options, maxEntries: this.#limits.maxSearchedFiles })
  }

  async grep(pattern: string, options: GrepOptions = {}): Promise<GrepResult> {
    const { maxWholeReadBytes: maxFileBytes, maxSearchedFiles: maxFiles } = this.#limits
    return grep(this.#sandbox, pattern, { options, maxFileBytes, maxFiles })
  }

  async stat(path: string): Promise<FileStat> {
    const normal = normalizePath(path)
    const entry = await this.#sandbox.callFile(normal, ({ files }) =>
      files.stat(toContainerPath(normal)),
    )
    return toFileStat(normal, entry)
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    const normal = normalizePath(path)
    const recursive = options.recursive === true
    if (normal === '/' && !recursive) throw new FileSystemError('already-exists', path)
    await this.#sandbox.callFile(normal, ({ files }) =>
      files.makeDirectory(toContainerPath(normal), { recursive }),
    )
  }

  async rm(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    const normal = normalizePath(path)
    const recursive = options.recursive === true
    try {
      await this.#sandbox.callFile(normal, ({ files }) =>
        files.remove(toContainerPath(normal), { recursive }),
      )
    } catch (error) {
      if (normal !== '/' || !recursive || !isRootReplaced(error)) throw error
      await this.#sandbox.callFile(normal, makeRoot)
    }
  }

  async copy(from: string, to: string, options: TransferOptions = {}): Promise<void> {
    await this.#transfer('copy', { from, to, options })
  }

  async move(from: string, to: string, options: TransferOptions = {}): Promise<void> {
    await this.#transfer('move', { from, to, options })
  }

  async readStream(
    path: string,
    options: ReadStreamOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    options.signal?.throwIfAborted()
    const normal = normalizePath(path)
    const stream = await this.#sandbox.callFile(normal, ({ files }) =>
      files.readStream(toContainerPath(normal), options),
    )
    return mapStreamErrors(stream, normal, options.signal)
  }

  async writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options: WriteOptions = {},
  ): Promise<FileStat> {
    const normal = normalizeFile(path)
    const limited = new LimitedSource(source, normal, this.#limits.maxFileBytes)
    try {
      const entry = await this.#sandbox.call(
        ({ files }) => files.writeStream(toContainerPath(normal), limited.stream, options),
        { path: normal, timeoutMs: Number.POSITIVE_INFINITY },
      )
      return toFileStat(normal, entry)
    } catch (error) {
      await limited.cancel(error)
      if (limited.failure !== undefined) throw limited.failure
      // Its content waits in the root: a root that is no directory explains more.
      if (isNowhere(error)) await this.stat('/')
      throw error
    }
  }

  async realPath(
    path: string,
    { followLast = true }: { readonly followLast?: boolean } = {},
  ): Promise<string> {
    const normal = normalizePath(path)
    const real = await this.#sandbox.callFile(normal, ({ files }) =>
      files.realPath(toContainerPath(normal), { followLast }),
    )
    return normalizePath(toWorkspacePath(real) ?? normal)
  }

  /** The same files, for paths without links. */
  withoutLinks(): FileSystem {
    return new CloudflareSandboxFileSystem(this.#live, this.#limits, this.#live.withoutLinks())
  }

  async #transfer(
    method: TransferMethod,
    request: { readonly from: string; readonly to: string; readonly options: TransferOptions },
  ): Promise<void> {
    const [from, to] = [normalizePath(request.from), normalizePath(request.to)]
    const overwrite = request.options.overwrite === true
    if (isWithin(to, from)) return this.#refuseInside(from, to, overwrite)
    if (to === '/') throw new FileSystemError('is-directory', to)
    try {
      await this.#sandbox.callFile(to, ({ files }) =>
        files[method](toContainerPath(from), toContainerPath(to), {
          overwrite,
          ...limitsBelow(from, to),
        }),
      )
    } catch (error) {
      throw aboutSource(error, from)
    }
  }

  /** Onto itself, into itself, or below a file. */
  async #refuseInside(from: string, to: string, overwrite: boolean): Promise<void> {
    const { type } = await this.stat(from)
    if (from !== to && type !== 'directory') throw new FileSystemError('not-directory', from)
    if (from !== to) {
      throw new FileSystemError('invalid-path', to, { detail: 'it lies in what it is made from' })
    }
    if (type === 'directory') throw new FileSystemError('is-directory', to)
    if (!overwrite) throw new FileSystemError('already-exists', to)
  }

  /** Checks the size before anything is allocated. */
  #encode(path: string, data: Uint8Array | string): Uint8Array {
    const size = typeof data === 'string' ? utf8Length(data) : data.length
    const { maxFileBytes } = this.#limits
    if (size <= maxFileBytes) return toBytes(data)
    const detail = `${size} bytes; the limit is ${maxFileBytes}`
    throw new FileSystemError('too-large', path, { detail })
  }
}

/** A path at which a file can be. */
function normalizeFile(path: string): string {
  const normal = normalizePath(path)
  if (normal === '/') throw new FileSystemError('is-directory', path)
  return normal
}

/** A driver reports that something is missing, not which of the two paths: it is the source. */
function aboutSource(error: unknown, from: string): unknown {
  const isMissing = FileSystemError.isInstance(error) && error.code === 'not-found'
  return isMissing ? new FileSystemError('not-found', from, { cause: error }) : error
}

/** There was no place to write to. */
function isNowhere(error: unknown): boolean {
  if (!FileSystemError.isInstance(error)) return false
  return error.code === 'not-directory' || error.code === 'not-found'
}

/** Something else was in the place of the root; it has been put aside by now. */
function isRootReplaced(error: unknown): boolean {
  return WorkspaceFailedError.isInstance(error) && error.code === 'working-directory-missing'
}

async function makeRoot({ files }: Pick<SandboxDriver, 'files'>): Promise<void> {
  await files.makeDirectory(WORKSPACE_ROOT, { recursive: true })
}

/** What may lie below a directory that goes to a place which is deeper, or has a longer path. */
function limitsBelow(from: string, to: string): Pick<DriverTransferOptions, 'below'> {
  const isLonger = pathDepth(to) > pathDepth(from) || utf8Length(to) > utf8Length(from)
  if (!isLonger) return {}
  const depth = MAX_PATH_DEPTH - pathDepth(to)
  return { below: { depth, bytes: MAX_PATH_BYTES - utf8Length(to) } }
}
