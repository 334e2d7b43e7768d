import { type Clock, FileSystemError } from '@helix-agents/core'
import {
  type CommandBatch,
  type CommandFiles,
  type FileStat,
  normalizePath,
  parentPath,
  type RejectedChange,
} from '@helix-agents/core/provider'
import type { FileStoreFileSystem } from '../file-store-file-system.ts'
import type { Namespace } from '../namespaces/namespaces.ts'
import { numberOf } from '../sql/columns.ts'
import type { Database } from '../sql/database.ts'
import type { StoreContext } from '../store-context.ts'
import type { Usage } from '../tree/node.ts'
import { isSpilled } from '../writing/write-file.ts'
import { contentOf, PendingChanges, type PendingFile } from './pending-changes.ts'
import { storeChanges } from './store-changes.ts'

/** Larger writes are stored at once. */
const MAX_WRITE_BYTES = 64 * 1024
/** What is gathered before it is stored: a transaction that takes a few milliseconds. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
const MAX_PENDING_CHANGES = 1000

const encoder = new TextEncoder()

interface BatchOptions {
  readonly fs: FileStoreFileSystem
  readonly context: StoreContext
  readonly clock: Clock
}

/**
 * Gathers the small changes of a command and stores them in one transaction: when it ends, when it
 * waits for something, before an operation that needs them, and when they are many. An object that is
 * evicted has all of a transaction or nothing of it.
 *
 * What could be rejected is not gathered, so that a command sees its errors where they happen.
 */
export class FileStoreBatch implements CommandBatch {
  readonly files: CommandFiles
  readonly #options: BatchOptions
  readonly #pending = new PendingChanges()
  /** Paths at which the command found nothing since the last commit. */
  readonly #absent = new Set<string>()
  #used: Usage | undefined
  #cancelTimer: (() => void) | undefined
  #storing: Promise<void> = Promise.resolve()
  #rejected: RejectedChange[] = []
  #version = 0

  constructor(options: BatchOptions) {
    this.#options = options
    this.files = {
      readFile: (path) => this.#readFile(path),
      writeFile: (...call) => this.#writeFile(...call),
      appendFile: (path, data) => this.#appendFile(path, data),
      stat: (path) => this.#stat(path),
      mkdir: (path, how) => this.#mkdir(path, how?.recursive ?? false),
      rm: (path, how) => this.#rm(path, how),
      move: (...call) => this.#move(...call),
      ls: (path) => this.#direct((fs) => fs.ls(path)),
      copy: (...call) => this.#direct((fs) => fs.copy(...call)),
      grep: (...call) => this.#direct((fs) => fs.grep(...call)),
    }
  }

  async commit(): Promise<readonly RejectedChange[]> {
    await this.#store()
    const rejected = this.#rejected
    this.#rejected = []
    return rejected
  }

  async #readFile(path: string): Promise<Uint8Array> {
    const entry = this.#pending.get(normalizePath(path))
    if (entry?.type === 'file' && entry.storedBytes === undefined) return contentOf(entry)
    return this.#direct((fs) => fs.readFile(path))
  }

  async #stat(path: string): Promise<FileStat> {
    const normal = normalizePath(path)
    const entry = this.#pending.get(normal)
    if (entry === undefined) return this.#storedStat(normal)
    const isFile = entry.type === 'file'
    return {
      path: normal,
      type: entry.type,
      size: isFile ? (entry.storedBytes ?? 0) + entry.addedBytes : 0,
      mtime: new Date(entry.modifiedMs),
      version: `pending.${this.#version}`,
    }
  }

  async #storedStat(path: string): Promise<FileStat> {
    try {
      return await this.#options.fs.stat(path)
    } catch (error) {
      if (FileSystemError.isInstance(error) && error.code === 'not-found') this.#absent.add(path)
      throw error
    }
  }

  async #writeFile(...call: Parameters<CommandFiles['writeFile']>): Promise<FileStat> {
    const [path, given, options] = call
    const isInline = !isSpilled(this.#options.context, given.length)
    const entry = isInline && options === undefined ? await this.#fileAt(path, given) : undefined
    const replaced = entry && { ...entry, storedBytes: undefined, pieces: [], addedBytes: 0 }
    if (replaced !== undefined && this.#gather(path, replaced, given)) return this.#stat(path)
    return this.#direct((fs) => fs.writeFile(...call))
  }

  async #appendFile(...call: Parameters<CommandFiles['appendFile']>): Promise<FileStat> {
    const [path, given] = call
    const entry = await this.#fileAt(path, given)
    if (entry !== undefined && this.#gather(path, entry, given)) return this.#stat(path)
    return this.#direct((fs) => fs.appendFile(...call))
  }

  async #mkdir(path: string, recursive: boolean): Promise<void> {
    await this.#storeIfMany()
    const normal = normalizePath(path)
    const parent = parentPath(normal)
    const isAbsent = await this.#isAbsent(normal)
    if (isAbsent && recursive && (await this.#isAbsent(parent))) await this.#mkdir(parent, true)
    const isNew = (await this.#isAbsent(normal)) && (await this.#isDirectory(parent))
    if (!isNew || !this.#hasRoom(0, 0)) return this.#direct((fs) => fs.mkdir(path, { recursive }))
    this.#pending.set(normal, { type: 'directory', modifiedMs: this.#options.clock.now() })
    this.#scheduleStore()
  }

  async #rm(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    const normal = normalizePath(path)
    const entry = this.#pending.get(normal)
    if (entry?.type !== 'file' || !entry.isNew) return this.#direct((fs) => fs.rm(path, options))
    this.#pending.delete(normal)
  }

  /** A new file that is renamed, as programs do that replace another, was never stored. */
  async #move(...call: Parameters<CommandFiles['move']>): Promise<void> {
    const [from, to] = [normalizePath(call[0]), normalizePath(call[1])]
    const entry = this.#pending.get(from)
    if (entry?.type === 'file' && entry.isNew && from !== to) {
      const target = await this.#fileAt(to)
      if (target !== undefined && (target.isNew || call[2]?.overwrite === true)) {
        this.#pending.delete(from)
        this.#pending.set(to, { ...entry, isNew: target.isNew })
        return
      }
    }
    return this.#direct((fs) => fs.move(...call))
  }

  /** Stores what is gathered, then runs an operation on the stored files. */
  async #direct<T>(act: (fs: FileStoreFileSystem) => Promise<T>): Promise<T> {
    await this.#store()
    return act(this.#options.fs)
  }

  /** A file that a small write may change or make. Undefined: the usual way has to find out. */
  async #fileAt(path: string, given: Uint8Array | string = ''): Promise<PendingFile | undefined> {
    if (given.length > MAX_WRITE_BYTES) return undefined
    await this.#storeIfMany()
    const normal = normalizePath(path)
    const entry = this.#pending.get(normal)
    if (entry !== undefined) return entry.type === 'file' ? entry : undefined
    const made = { type: 'file', pieces: [], addedBytes: 0, modifiedMs: 0 } as const
    if (await this.#isAbsent(normal)) {
      if (!(await this.#isDirectory(parentPath(normal)))) return undefined
      return { ...made, pieces: [], isNew: true, storedBytes: undefined }
    }
    const { type, size } = await this.#options.fs.stat(normal)
    if (type !== 'file') return undefined
    return { ...made, pieces: [], isNew: false, storedBytes: size }
  }

  /** False when it might be rejected: nothing was gathered. */
  #gather(path: string, entry: PendingFile, given: Uint8Array | string): boolean {
    const bytes = typeof given === 'string' ? encoder.encode(given) : Uint8Array.from(given)
    const addedBytes = entry.addedBytes + bytes.length
    if (!this.#hasRoom(bytes.length, (entry.storedBytes ?? 0) + addedBytes)) return false
    entry.pieces.push(bytes)
    const modifiedMs = this.#options.clock.now()
    this.#pending.set(normalizePath(path), { ...entry, addedBytes, modifiedMs })
    this.#scheduleStore()
    return true
  }

  /** Whether so much more fits, as if nothing that is gathered replaced anything. */
  #hasRoom(bytes: number, fileBytes: number): boolean {
    const { database, limits, namespace } = this.#options.context
    if (fileBytes > limits.maxFileBytes) return false
    this.#used ??= usageOf(database, namespace)
    if (this.#used === undefined) return false
    const { usedBytes, usedFiles } = this.#used
    const isWithinBytes = usedBytes + this.#pending.bytes + bytes <= limits.maxBytes
    return isWithinBytes && usedFiles + this.#pending.count < limits.maxFiles
  }

  async #isAbsent(path: string): Promise<boolean> {
    if (path === '/' || this.#pending.get(path) !== undefined) return false
    if (this.#absent.has(path)) return true
    await Promise.allSettled([this.#storedStat(path)])
    return this.#absent.has(path)
  }

  async #isDirectory(path: string): Promise<boolean> {
    if (path === '/') return true
    return !(await this.#isAbsent(path)) && (await this.#stat(path)).type === 'directory'
  }

  async #storeIfMany(): Promise<void> {
    const { bytes, count } = this.#pending
    if (bytes > MAX_PENDING_BYTES || count >= MAX_PENDING_CHANGES) await this.#store()
  }

  /** A command that waits for something else lets the timers run. */
  #scheduleStore(): void {
    this.#cancelTimer ??= this.#options.clock.setTimer(
      0,
      () => void Promise.allSettled([this.#store()]),
      { keepsProcessAlive: true },
    )
  }

  /** A failure is that of every later call as well. */
  async #store(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#absent.clear()
    this.#used = undefined
    const changes = this.#pending.drain()
    if (changes.length > 0) {
      this.#version += 1
      const stored = storeChanges(this.#options.context, changes)
      this.#storing = this.#recordRejected(this.#storing, stored)
    }
    await this.#storing
  }

  async #recordRejected(
    earlier: Promise<void>,
    stored: Promise<readonly RejectedChange[]>,
  ): Promise<void> {
    const [, rejected] = await Promise.all([earlier, stored])
    this.#rejected.push(...rejected)
  }
}

function usageOf(database: Database, namespace: Namespace): Usage | undefined {
  const row = database.get(
    'SELECT bytes, files FROM helix_fs_namespaces WHERE id = ?',
    namespace.id,
  )
  if (row === undefined) return undefined
  return { usedBytes: numberOf(row, 'bytes'), usedFiles: numberOf(row, 'files') }
}
