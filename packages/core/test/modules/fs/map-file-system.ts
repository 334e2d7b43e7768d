import { FileSystemError } from '../../../src/errors/file-system-error.ts'
import { isBinary, toBytes } from '../../../src/modules/fs/text/bytes.ts'
import type {
  FileEntry,
  FileStat,
  FileSystem,
  GlobOptions,
  GrepOptions,
  ReadStreamOptions,
  TransferOptions,
  WriteOptions,
} from '../../../src/modules/fs/contract.ts'
import { compileGlob } from '../../../src/modules/fs/search/glob.ts'
import { GrepCollector } from '../../../src/modules/fs/search/grep-collector.ts'
import { isWithin, normalizePath } from '../../../src/modules/fs/path/path.ts'
import { compileSearch } from '../../../src/modules/fs/search/search.ts'

interface StoredFile {
  readonly bytes: Uint8Array
  readonly version: string
}

/** The least that tools and policy can be tested with: files in a map, directories implied. */
export class MapFileSystem implements FileSystem {
  readonly files = new Map<string, StoredFile>()
  readonly calls: string[] = []
  /** Runs once before the next write: somebody else is faster. */
  beforeWrite: (() => Promise<void>) | undefined
  #version = 0

  async readFile(path: string): Promise<Uint8Array> {
    return this.#file(path).bytes.slice()
  }
  async readText(path: string): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#file(path).bytes)
  }
  async writeFile(path: string, data: Uint8Array | string, options?: WriteOptions) {
    this.calls.push(`write ${path}`)
    const hook = this.beforeWrite
    this.beforeWrite = undefined
    await hook?.()
    const normal = normalizePath(path)
    const current = this.files.get(normal)
    if (options?.ifAbsent === true && current !== undefined) {
      throw new FileSystemError('already-exists', path)
    }
    if (options?.ifVersion !== undefined && current?.version !== options.ifVersion) {
      throw new FileSystemError('stale-write', path)
    }
    this.#version += 1
    this.files.set(normal, { bytes: toBytes(data).slice(), version: `v${this.#version}` })
    return this.stat(path)
  }
  async appendFile(path: string, data: Uint8Array | string): Promise<FileStat> {
    const before = this.files.get(normalizePath(path))?.bytes ?? new Uint8Array()
    return this.writeFile(path, Buffer.concat([before, toBytes(data)]))
  }
  async ls(path: string): Promise<FileEntry[]> {
    const directory = normalizePath(path)
    const prefix = directory === '/' ? '/' : `${directory}/`
    const entries = new Map<string, FileEntry>()
    for (const [file, stored] of this.files) {
      if (!file.startsWith(prefix)) continue
      const name = file.slice(prefix.length).split('/')[0]!
      const own = prefix + name
      const isFile = own === file
      const type = isFile ? 'file' : 'directory'
      const size = isFile ? { size: stored.bytes.length } : {}
      entries.set(name, { name, path: own, type, ...size })
    }
    return [...entries.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    const glob = compileGlob(pattern)
    const path = normalizePath(options.path ?? '/')
    const start = path === '/' ? 1 : path.length + 1
    return [...this.files.keys()]
      .filter((file) => isWithin(file, path) && glob.matches(file.slice(start)))
      .toSorted()
      .slice(0, options.limit)
  }
  async grep(pattern: string, options: GrepOptions = {}) {
    const search = await compileSearch(pattern, options)
    const collector = new GrepCollector(options)
    for (const path of [...this.files.keys()].toSorted()) {
      const { bytes } = this.files.get(path)!
      if (!isWithin(path, normalizePath(options.path ?? '/')) || !search.includes(path)) continue
      if (bytes.length > collector.maxFileBytes) collector.skipLarge(path)
      else if (isBinary(bytes)) collector.skipBinary(path)
      else await search.search(path, new TextDecoder().decode(bytes), collector)
    }
    return collector.result()
  }
  async stat(path: string): Promise<FileStat> {
    const normal = normalizePath(path)
    const file = this.files.get(normal)
    const size = file?.bytes.length ?? 0
    const isDirectory = [...this.files.keys()].some((other) => isWithin(other, normal))
    if (file === undefined && !isDirectory && normal !== '/') {
      throw new FileSystemError('not-found', path)
    }
    const type = file === undefined ? 'directory' : 'file'
    return { path: normal, type, size, mtime: new Date(0), version: file?.version ?? 'd' }
  }
  async mkdir(path: string): Promise<void> {
    this.calls.push(`mkdir ${path}`)
  }
  async rm(path: string): Promise<void> {
    this.calls.push(`rm ${path}`)
    await this.stat(path)
    for (const file of this.files.keys()) {
      if (isWithin(file, normalizePath(path))) this.files.delete(file)
    }
  }
  async copy(from: string, to: string, options?: TransferOptions): Promise<void> {
    const source = normalizePath(from)
    const target = normalizePath(to)
    if (this.files.has(target) && options?.overwrite !== true) {
      throw new FileSystemError('already-exists', to)
    }
    const files = [...this.files]
    for (const [path, file] of files) {
      if (isWithin(path, source))
        await this.writeFile(target + path.slice(source.length), file.bytes)
    }
  }
  async move(from: string, to: string, options?: TransferOptions): Promise<void> {
    await this.copy(from, to, options)
    await this.rm(from)
  }
  async readStream(path: string, _options?: ReadStreamOptions) {
    this.calls.push(`readStream ${path}`)
    const { bytes } = this.#file(path)
    return new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.slice(i, i + 7))
        controller.close()
      },
    })
  }
  async writeStream(path: string, source: ReadableStream<Uint8Array>, options?: WriteOptions) {
    const chunks: Uint8Array[] = []
    for await (const chunk of source) chunks.push(chunk)
    return this.writeFile(path, Buffer.concat(chunks), options)
  }

  text(path: string): string {
    return Buffer.from(this.#file(path).bytes).toString()
  }
  /** What a file holds, by path; for whole-state comparison. */
  all(): Record<string, string> {
    return Object.fromEntries([...this.files.keys()].map((path) => [path, this.text(path)]))
  }

  #file(path: string): StoredFile {
    const file = this.files.get(normalizePath(path))
    if (file === undefined) throw new FileSystemError('not-found', path)
    return file
  }
}
