import {
  type FileEntry,
  type FileStat,
  type FileSystem,
  type GlobOptions,
  type GrepOptions,
  type GrepResult,
  normalizePath,
  type ReadStreamOptions,
  type TransferOptions,
  type WriteOptions,
} from '@helix-agents/core/provider'
import { readFile, readText } from './reading/read-file.ts'
import { openReadStream } from './reading/read-stream.ts'
import { glob } from './search/glob.ts'
import { grep } from './search/grep.ts'
import { lost } from './sql/database.ts'
import type { StoreContext } from './store-context.ts'
import { copy } from './tree/copy.ts'
import { assertAlive, requireNode } from './tree/find-node.ts'
import { list } from './tree/list.ts'
import { mkdir } from './tree/make-directory.ts'
import { move } from './tree/move.ts'
import { remove } from './tree/remove.ts'
import { toStat } from './tree/stat.ts'
import { appendFile } from './writing/append-file.ts'
import { writeFile } from './writing/write-file.ts'
import { writeStream } from './writing/write-stream.ts'

/**
 * Files in the database of a Durable Object. Each change is one transaction, and what does not
 * need the bucket is done before the call returns.
 */
export class FileStoreFileSystem implements FileSystem {
  #context: StoreContext | undefined

  constructor(context: StoreContext) {
    this.#context = context
  }

  /** All later calls fail with `lost`. */
  close(): void {
    this.#context = undefined
  }

  async readFile(path: string): Promise<Uint8Array> {
    return readFile(this.#open(), path)
  }

  async readText(path: string): Promise<string> {
    return readText(this.#open(), path)
  }

  async writeFile(
    path: string,
    data: Uint8Array | string,
    options?: WriteOptions,
  ): Promise<FileStat> {
    return writeFile(this.#open(), { path, options }, data)
  }

  async appendFile(path: string, data: Uint8Array | string): Promise<FileStat> {
    return appendFile(this.#open(), path, data)
  }

  async ls(path: string): Promise<FileEntry[]> {
    return list(this.#open(), path)
  }

  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    return glob(this.#open(), pattern, options)
  }

  async grep(pattern: string, options: GrepOptions = {}): Promise<GrepResult> {
    return grep(this.#open(), pattern, options)
  }

  async stat(path: string): Promise<FileStat> {
    const context = this.#open()
    const normal = normalizePath(path)
    return toStat(context, normal, requireNode(context, normal))
  }

  async mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    mkdir(this.#open(), path, options?.recursive ?? false)
  }

  async rm(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    await remove(this.#open(), path, options?.recursive ?? false)
  }

  async copy(from: string, to: string, options?: TransferOptions): Promise<void> {
    copy(this.#open(), [from, to], options)
  }

  async move(from: string, to: string, options?: TransferOptions): Promise<void> {
    move(this.#open(), [from, to], options)
  }

  async readStream(
    path: string,
    options: ReadStreamOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return openReadStream(this.#open(), path, options)
  }

  async writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat> {
    return writeStream(this.#open(), { path, options }, source)
  }

  #open(): StoreContext {
    const context = this.#context
    if (context === undefined) throw lost()
    if (context.shared.removed.has(context.namespace.id)) assertAlive(context)
    return context
  }
}
