import { FileSystemError } from '../../src/errors/file-system-error.ts'
import type {
  FileAttributes,
  FileEntry,
  FileStat,
  FileType,
  WriteOptions,
} from '../../src/modules/fs/contract.ts'
import { baseName, parentPath } from '../../src/modules/fs/path/path.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'

/** Files in a map, with directories, links, permissions and special files; records its calls. */
export class TreeFileSystem extends MapFileSystem {
  readonly nodes = new Map<string, FileType>()
  readonly links = new Map<string, string>()
  readonly modes = new Map<string, number>()
  /** Where links lead that are not followed here. */
  readonly realPaths = new Map<string, string>()
  readonly log: string[] = []
  /** Of each write, whether nothing may be there. */
  readonly absent: (boolean | undefined)[] = []
  attributes: FileAttributes = {
    readMode: async (path) => this.modes.get(path) ?? 0o100_644,
    writeModes: async (modes, { signal } = {}) => {
      for (const { path, mode } of modes) {
        signal?.throwIfAborted()
        this.log.push(`mode ${path} ${mode.toString(8)}`)
      }
    },
    readLink: async (path) => this.links.get(path) ?? '/nowhere',
    makeLink: async (path, target) => void this.log.push(`link ${path} ${target}`),
  }

  withoutLinks?: () => TreeFileSystem

  add(path: string, type: FileType): void {
    this.nodes.set(path, type)
  }

  async realPath(path: string): Promise<string> {
    const real = this.realPaths.get(path)
    if (real === undefined) throw new FileSystemError('path-escape', path)
    return real
  }

  override async ls(path: string): Promise<FileEntry[]> {
    const own = [...this.nodes]
      .filter(([node]) => parentPath(node) === path)
      .map(([node, type]) => ({ name: baseName(node), path: node, type }))
    const names = new Set(own.map(({ name }) => name))
    return [...(await super.ls(path)).filter(({ name }) => !names.has(name)), ...own]
  }

  override async mkdir(path: string): Promise<void> {
    this.log.push(`mkdir ${path}`)
  }

  override async writeFile(
    path: string,
    data: Uint8Array | string,
    options?: WriteOptions,
  ): Promise<FileStat> {
    this.log.push(`write ${path}`)
    this.absent.push(options?.ifAbsent)
    return super.writeFile(path, data, options)
  }

  override async writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat> {
    this.log.push(`stream ${path}`)
    this.absent.push(options?.ifAbsent)
    return super.writeStream(path, source, options)
  }
}
