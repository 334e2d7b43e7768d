import type { CpOptions, FsStat, IFileSystem, MkdirOptions, RmOptions } from 'just-bash'
import { decodeContent, encodeContent, latin1Of } from './byte-strings.ts'
import { FileMetadata } from './file-metadata.ts'
import { errnoText } from './errno.ts'
import type { ScriptFiles } from './script.ts'

type Encoding = Parameters<IFileSystem['writeFile']>[2]
type ByteString = Awaited<ReturnType<NonNullable<IFileSystem['readFileBytes']>>>
type DirentEntry = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number]

/** A part of the workspace's files, as just-bash uses files. */
export class WorkspaceFiles implements IFileSystem {
  readonly #files: ScriptFiles
  readonly #root: string
  readonly #metadata: FileMetadata
  readonly #mount: string

  /**
   * @param mount Where the shell has these files, for messages.
   * @param root What `/` of these files is in the workspace. It may be missing: then it is empty.
   */
  constructor(
    files: ScriptFiles,
    metadata: FileMetadata,
    { mount, root }: { readonly mount: string; readonly root: string },
  ) {
    this.#files = files
    this.#root = root === '/' ? '' : root
    this.#mount = mount
    this.#metadata = metadata
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#call('open', path, (at) => this.#files.readFile(at))
  }

  async readFile(path: string, options?: Parameters<IFileSystem['readFile']>[1]): Promise<string> {
    return decodeContent(await this.readFileBuffer(path), encodingOf(options))
  }

  async readFileBytes(path: string): Promise<ByteString> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is opaque, and the constructor of it is not exported everywhere
    return latin1Of(await this.readFileBuffer(path)) as unknown as ByteString
  }

  async writeFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    const data = encodeContent(content, encodingOf(options))
    await this.#assertParent('open', path)
    await this.#call('open', path, (at) => this.#files.writeFile(at, data))
  }

  async appendFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    const data = encodeContent(content, encodingOf(options))
    await this.#assertParent('open', path)
    await this.#call('open', path, (at) => this.#files.appendFile(at, data))
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#find(path)) !== undefined
  }

  async stat(path: string): Promise<FsStat> {
    const found = await this.#find(path)
    if (found === undefined) throw this.#error('not-found', 'stat', path)
    return found
  }

  async lstat(path: string): Promise<FsStat> {
    return this.stat(path)
  }

  async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
    const recursive = options.recursive === true || this.#isBelowMissingRoot(path)
    await this.#call('mkdir', path, (at) => this.#files.mkdir(at, { recursive }))
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    const entries = await this.#call('scandir', path, async (at) => {
      try {
        return await this.#files.ls(at)
      } catch (error) {
        if (at === this.#root && codeOf(error) === 'not-found') return []
        throw error
      }
    })
    return entries.map(({ name, type }) => ({
      name,
      isFile: type === 'file',
      isDirectory: type === 'directory',
      isSymbolicLink: type === 'symlink',
    }))
  }

  async rm(path: string, { recursive = false, force = false }: RmOptions = {}): Promise<void> {
    const at = this.#at(path)
    try {
      await this.#files.rm(at, { recursive })
    } catch (error) {
      const code = codeOf(error)
      if (force && code === 'not-found') return
      throw this.#error(code, 'rm', path, error)
    }
    this.#metadata.forget(at)
  }

  async cp(from: string, to: string, { recursive = false }: CpOptions = {}): Promise<void> {
    const found = await this.stat(from)
    if (found.isDirectory) {
      if (!recursive) throw this.#error('is-directory', 'cp', from)
      if (this.#at(to).startsWith(`${this.#at(from)}/`)) {
        throw this.#error('invalid-path', 'cp', to)
      }
      await this.mkdir(to, { recursive: true })
      for (const name of await this.readdir(from)) {
        await this.cp(`${from}/${name}`, `${to}/${name}`, { recursive })
      }
      return
    }
    await this.#assertParent('cp', to)
    await this.#call('cp', from, (at) => this.#files.copy(at, this.#at(to), { overwrite: true }))
    if (found.mode !== FileMetadata.fileMode) this.#metadata.setMode(this.#at(to), found.mode)
  }

  async mv(from: string, to: string): Promise<void> {
    const [source, target] = [this.#at(from), this.#at(to)]
    if (source === target) return
    await this.#assertParent('rename', to)
    await this.#call('rename', from, () => this.#files.move(source, target, { overwrite: true }))
    this.#metadata.move(source, target)
  }

  resolvePath(base: string, path: string): string {
    const names: string[] = []
    for (const name of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
      if (name === '..') names.pop()
      else if (name !== '' && name !== '.') names.push(name)
    }
    return `/${names.join('/')}`
  }

  getAllPaths(): string[] {
    return []
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.stat(path)
    this.#metadata.setMode(this.#at(path), mode)
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    const { version } = await this.#call('utimes', path, (at) => this.#files.settle(at))
    this.#metadata.setTime(this.#at(path), { modified, version })
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw new Error(`EPERM: this workspace has no links, copy the file instead, symlink '${path}'`)
  }

  async link(_existing: string, path: string): Promise<void> {
    throw new Error(`EPERM: this workspace has no links, copy the file instead, link '${path}'`)
  }

  async readlink(path: string): Promise<string> {
    await this.stat(path)
    throw new Error(`EINVAL: invalid argument, readlink '${path}'`)
  }

  async realpath(path: string): Promise<string> {
    await this.stat(path)
    return this.resolvePath('/', path)
  }

  async #find(path: string): Promise<FsStat | undefined> {
    const at = this.#at(path)
    try {
      const { type, size, mtime, version } = await this.#files.stat(at === '' ? '/' : at)
      const isDirectory = type === 'directory'
      return {
        isFile: type === 'file',
        isDirectory,
        isSymbolicLink: type === 'symlink',
        mode: this.#metadata.modeOf(at, isDirectory),
        size,
        mtime: this.#metadata.timeOf(at, version) ?? mtime,
        identity: at,
      }
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'not-found' && code !== 'not-directory') {
        throw this.#error(code, 'stat', path, error)
      }
      return at === this.#root ? emptyRoot(at) : undefined
    }
  }

  /** A write makes its parents, and a shell does not. */
  async #assertParent(call: string, path: string): Promise<void> {
    const parent = path.slice(0, path.lastIndexOf('/'))
    if (parent === '') return
    const found = await this.#find(parent)
    if (found === undefined) throw this.#error('not-found', call, path)
    if (!found.isDirectory) throw this.#error('not-directory', call, path)
  }

  #isBelowMissingRoot(path: string): boolean {
    return this.#root !== '' && path.lastIndexOf('/') === 0
  }

  async #call<T>(call: string, path: string, act: (at: string) => Promise<T>): Promise<T> {
    try {
      return await act(this.#at(path) || '/')
    } catch (error) {
      throw this.#error(codeOf(error), call, path, error)
    }
  }

  #error(code: string, call: string, path: string, cause?: unknown): Error {
    const text = errnoText(code, call, `${this.#mount}${this.resolvePath('/', path)}`)
    return cause === undefined ? new Error(text) : new Error(text, { cause })
  }

  #at(path: string): string {
    const resolved = this.resolvePath('/', path)
    return resolved === '/' ? this.#root : `${this.#root}${resolved}`
  }
}

function emptyRoot(at: string): FsStat {
  return {
    isFile: false,
    isDirectory: true,
    isSymbolicLink: false,
    mode: 0o755,
    size: 0,
    mtime: new Date(0),
    identity: at,
  }
}

function codeOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : 'io-error'
}

function encodingOf(options: Encoding | { readonly encoding?: string | null }): string {
  if (typeof options === 'string') return options
  return options?.encoding ?? 'utf8'
}
