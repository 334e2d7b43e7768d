import { FileSystemError, WorkspaceEvictedError } from '@helix-agents/core'
import {
  checkSubtreeFits,
  type FileEntry,
  type FileStat,
  type FileSystem,
  type GlobOptions,
  type GrepOptions,
  type GrepResult,
  normalizePath,
  parentPath,
  type ReadStreamOptions,
  type TransferOptions,
  type WriteOptions,
} from '@helix-agents/core/provider'
import { cloneDirectory, cloneFile } from './clone-directory.ts'
import { collectStream } from './content/collect-stream.ts'
import {
  contentBytes,
  contentText,
  joinContent,
  sizeOf,
  streamContent,
  toContent,
} from './content/content.ts'
import { FileTree } from './file-tree.ts'
import {
  type Content,
  DirectoryNode,
  extentOf,
  FileNode,
  subtreeBytes,
  type TreeNode,
} from './nodes.ts'
import { Quota, limitsWithDefaults } from './quota.ts'
import { globTree, grepTree } from './search.ts'
import { planTransfer } from './transfer.ts'

/** Limits of one file system, in bytes. */
export interface InMemoryFileSystemOptions {
  /** All files together. Default 512 MiB. */
  readonly maxTotalBytes?: number
  /** One file. Default: only the total limit. */
  readonly maxFileBytes?: number
  /** Starts every version token, so that those of another file system never look current. */
  readonly versionPrefix?: string
  /** The first files. Default: none. */
  readonly image?: FilesImage
}

/** All files at one moment. Any number of file systems may start from it; none of them changes it. */
export interface FilesImage {
  readonly root: DirectoryNode
  readonly usedBytes: number
  readonly lastVersion: number
  /** What the times of the nodes count from, in milliseconds since the epoch. */
  readonly startMs: number
}

/**
 * A file system in memory: a tree of maps, contents kept as they came. Calls do their work
 * before they return, so each is atomic; searches, streams and copies of directories span several turns.
 */
export class InMemoryFileSystem implements FileSystem {
  #tree: FileTree | undefined
  readonly #startMs: number
  readonly #versionPrefix: string
  readonly #quota: Quota
  #lastVersion: number
  #storedBytes = 0

  constructor(options: InMemoryFileSystemOptions = {}) {
    const { image } = options
    this.#versionPrefix = options.versionPrefix ?? ''
    this.#quota = new Quota(limitsWithDefaults(options))
    this.#quota.usedBytes = image?.usedBytes ?? 0
    this.#tree = new FileTree(image?.root)
    this.#startMs = image?.startMs ?? Date.now()
    this.#lastVersion = image?.lastVersion ?? 0
  }

  /** Bytes of all files. */
  get usedBytes(): number {
    return this.#quota.usedBytes
  }

  /**
   * Bytes of all files ever stored here. Between two images it bounds what the earlier one holds
   * that the files of today do not.
   */
  get storedBytes(): number {
    return this.#storedBytes
  }

  /** The files as they are now, in constant time: contents and unchanged directories are shared. */
  image(): FilesImage {
    const root = this.#live().freeze()
    const { usedBytes } = this.#quota
    return { root, usedBytes, lastVersion: this.#lastVersion, startMs: this.#startMs }
  }

  /** Replaces the limits; files that are over them stay. */
  limit(options: Pick<InMemoryFileSystemOptions, 'maxTotalBytes' | 'maxFileBytes'>): void {
    this.#quota.limit(limitsWithDefaults(options))
  }

  /** Drops every file; all later calls fail with `lost`. */
  discard(): void {
    this.#tree = undefined
    this.#quota.usedBytes = 0
  }

  async readFile(path: string): Promise<Uint8Array> {
    return contentBytes(this.#file(path).content)
  }

  async readText(path: string): Promise<string> {
    return contentText(this.#file(path).content)
  }

  async writeFile(
    path: string,
    data: Uint8Array | string,
    options?: WriteOptions,
  ): Promise<FileStat> {
    const normal = normalizePath(path)
    const existing = this.#checkWrite(normal, options)
    const size = sizeOf(data)
    this.#quota.checkFile(normal, existing?.size ?? 0, size)
    return this.#store(normal, existing, { content: toContent(data, size), size })
  }

  async appendFile(path: string, data: Uint8Array | string): Promise<FileStat> {
    const normal = normalizePath(path)
    const existing = this.#checkWrite(normal)
    const added = sizeOf(data)
    const size = (existing?.size ?? 0) + added
    this.#quota.checkFile(normal, existing?.size ?? 0, size)
    const tail = toContent(data, added)
    const content = existing === undefined ? tail : joinContent(existing.content, tail)
    return this.#store(normal, existing, { content, size })
  }

  async ls(path: string): Promise<FileEntry[]> {
    const normal = normalizePath(path)
    const directory = this.#node(normal)
    if (!(directory instanceof DirectoryNode)) throw new FileSystemError('not-directory', path)
    const prefix = normal === '/' ? '/' : `${normal}/`
    const entries: FileEntry[] = []
    for (const name of directory.names()) {
      const node = directory.children.get(name)
      if (node instanceof FileNode) {
        entries.push({ name, path: prefix + name, type: 'file', size: node.size })
      } else entries.push({ name, path: prefix + name, type: 'directory' })
    }
    return entries
  }

  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    return globTree(this.#live(), pattern, options)
  }

  async grep(pattern: string, options: GrepOptions = {}): Promise<GrepResult> {
    return grepTree(this.#live(), pattern, options)
  }

  async stat(path: string): Promise<FileStat> {
    const normal = normalizePath(path)
    return this.#statOf(normal, this.#node(normal))
  }

  async mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    const normal = normalizePath(path)
    const existing = this.#live().find(normal)
    if (existing instanceof DirectoryNode && options?.recursive) return
    if (existing !== undefined) throw new FileSystemError('already-exists', path)
    if (!options?.recursive && this.#live().parent(normal) === undefined) {
      throw new FileSystemError('not-found', parentPath(normal))
    }
    this.#put(normal, this.#newDirectory())
  }

  async rm(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    const normal = normalizePath(path)
    const node = this.#node(normal)
    if (node instanceof DirectoryNode && node.children.size > 0 && !options?.recursive) {
      throw new FileSystemError('not-empty', path)
    }
    this.#quota.usedBytes -= subtreeBytes(node)
    if (normal === '/') this.#live().clear()
    else this.#live().remove(normal)
  }

  async copy(from: string, to: string, options?: TransferOptions): Promise<void> {
    const transfer = planTransfer(this.#live(), [from, to], options)
    if (transfer === undefined) return
    const { target, node, replaced } = transfer
    const stamp = { nextVersion: () => ++this.#lastVersion, modifiedMs: this.#now() }
    if (node instanceof FileNode) {
      const growth = node.size - (replaced?.size ?? 0)
      this.#quota.checkTotal(to, growth)
      return this.#attach(target, cloneFile(node, stamp), growth)
    }
    // It is in the tree only when it is whole; until then anything may change.
    const clone = await cloneDirectory(node, stamp, (bytes, extent) => {
      checkSubtreeFits(target, extent)
      this.#quota.checkTotal(to, bytes)
    })
    if (this.#live().find(target) !== undefined) throw new FileSystemError('already-exists', to)
    this.#attach(target, clone.root, clone.bytes)
  }

  async move(from: string, to: string, options?: TransferOptions): Promise<void> {
    const transfer = planTransfer(this.#live(), [from, to], options)
    if (transfer === undefined) return
    const { node } = transfer
    if (node instanceof DirectoryNode) checkSubtreeFits(transfer.target, extentOf(node))
    const tree = this.#live()
    // First the parents of the target: a file in the way must not cost the source.
    tree.makeParent(transfer.target, () => this.#newDirectory())
    tree.remove(transfer.source)
    const moved = tree.owns(node) ? node : node.copy()
    moved.version = ++this.#lastVersion
    this.#put(transfer.target, moved)
    this.#quota.usedBytes -= transfer.replaced?.size ?? 0
  }

  async readStream(
    path: string,
    options: ReadStreamOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { content } = this.#file(path)
    const start = options.offset ?? 0
    const end = start + (options.length ?? Infinity)
    return streamContent(content, { start, end }, options.signal)
  }

  async writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat> {
    const normal = normalizePath(path)
    const before = this.#checkWrite(normal, options)
    const content = await collectStream(source, (size) => {
      this.#quota.checkFile(normal, before?.size ?? 0, size)
    })
    // Anything may have changed while the stream was read.
    const existing = this.#checkWrite(normal, options)
    this.#quota.checkFile(normal, existing?.size ?? 0, content.length)
    return this.#store(normal, existing, { content, size: content.length })
  }

  #live(): FileTree {
    if (this.#tree !== undefined) return this.#tree
    throw new WorkspaceEvictedError('the in-memory workspace is closed and its files are gone', {
      code: 'lost',
      admitted: 'no',
    })
  }

  #attach(path: string, node: TreeNode, growth: number): void {
    this.#put(path, node)
    this.#quota.usedBytes += growth
  }

  /** Relative to the birth of the file system, so that it stays a small integer. */
  #now(): number {
    return Date.now() - this.#startMs
  }

  #newDirectory(): DirectoryNode {
    return new DirectoryNode(++this.#lastVersion, this.#now())
  }

  #put(path: string, node: TreeNode): void {
    this.#live().put(path, node, () => this.#newDirectory())
  }

  #node(path: string): TreeNode {
    const node = this.#live().find(path)
    if (node === undefined) throw new FileSystemError('not-found', path)
    return node
  }

  #file(path: string): FileNode {
    const node = this.#node(normalizePath(path))
    if (node instanceof FileNode) return node
    throw new FileSystemError('is-directory', path)
  }

  /** The file that a write will replace, when the write is allowed. */
  #checkWrite(path: string, options?: WriteOptions): FileNode | undefined {
    const node = this.#live().find(path)
    if (node instanceof DirectoryNode) throw new FileSystemError('is-directory', path)
    if (options === undefined) return node
    if (options.ifAbsent && node !== undefined) throw new FileSystemError('already-exists', path)
    const current = node === undefined ? undefined : this.#versionOf(node)
    if (options.ifVersion !== undefined && options.ifVersion !== current) {
      const detail = current === undefined ? 'it was removed' : `now version ${current}`
      throw new FileSystemError('stale-write', path, { detail })
    }
    return node
  }

  /** Puts a content in place. Only a missing parent can be a file, so nothing is half done. */
  #store(
    path: string,
    existing: FileNode | undefined,
    file: { readonly content: Content; readonly size: number },
  ): FileStat {
    const growth = file.size - (existing?.size ?? 0)
    this.#storedBytes += file.size
    if (existing !== undefined && this.#live().owns(existing)) {
      this.#quota.usedBytes += growth
      existing.replace(file.content, file.size, ++this.#lastVersion, this.#now())
      return this.#statOf(path, existing)
    }
    const node = new FileNode(file.content, file.size, ++this.#lastVersion, this.#now())
    this.#attach(path, node, growth)
    return this.#statOf(path, node)
  }

  #versionOf(node: TreeNode): string {
    return this.#versionPrefix + node.version
  }

  #statOf(path: string, node: TreeNode): FileStat {
    const isFile = node instanceof FileNode
    return {
      path,
      type: isFile ? 'file' : 'directory',
      size: isFile ? node.size : 0,
      mtime: new Date(this.#startMs + node.modifiedMs),
      version: this.#versionOf(node),
    }
  }
}
