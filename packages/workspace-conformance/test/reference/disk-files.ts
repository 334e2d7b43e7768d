import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { FileSystemError } from '@helix-agents/core'
import {
  compileGlob,
  compileSearch,
  decodeText,
  type FileStat,
  type FileSystem,
  type FileType,
  GrepCollector,
  normalizePath,
} from '@helix-agents/core/provider'
import { createDiskAttributes } from './disk-attributes.ts'

/** What shell behaviours ask of a file system, on disk, without the races that a real one closes. */
export function createDiskFiles(root: string): FileSystem {
  const inside = (host: string): boolean => host === root || host.startsWith(`${root}/`)
  const hostPath = (path: string): string => {
    const host = join(root, normalizePath(path))
    let existing = host
    while (lstatSync(existing, { throwIfNoEntry: false }) === undefined && existing !== root) {
      existing = dirname(existing)
    }
    if (lstatSync(existing, { throwIfNoEntry: false }) === undefined) return host
    const real = realpathOf(existing)
    if (real === undefined) throw new FileSystemError('not-found', path)
    if (!inside(real)) throw new FileSystemError('path-escape', path)
    return host
  }
  const statOf = (path: string): FileStat => {
    const host = hostPath(path)
    const stat = statSync(host, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) throw new FileSystemError('not-found', path)
    const type = typeOf(stat)
    const version = `${stat.ino}.${stat.mtimeNs}.${stat.size}`
    return { path: normalizePath(path), type, size: Number(stat.size), mtime: stat.mtime, version }
  }
  /** Links are not entered. */
  const walk = (directory: string): string[] =>
    readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return walk(path)
      return entry.isFile() ? [path] : []
    })
  const files = (): string[] => walk('').toSorted()
  const realPath = async (path: string, { followLast = true } = {}): Promise<string> => {
    const normal = normalizePath(path)
    if (!followLast) return join(await realPath(dirname(normal)), basename(normal))
    const real = realOf(join(root, normal), 0)
    if (!inside(real)) throw new FileSystemError('path-escape', path)
    return real === root ? '/' : real.slice(root.length)
  }
  return {
    realPath,
    attributes: createDiskAttributes(root, realPath),
    withoutLinks: () => withoutLinks(createDiskFiles(root), realPath),
    readFile: async (path) => {
      if (statOf(path).type !== 'file') throw new FileSystemError('is-directory', path)
      return new Uint8Array(readFileSync(hostPath(path)))
    },
    writeFile: async (path, data) => {
      const host = hostPath(path)
      mkdirSync(dirname(host), { recursive: true })
      writeFileSync(host, data)
      return statOf(path)
    },
    appendFile: async (path, data) => {
      appendFileSync(hostPath(path), data)
      return statOf(path)
    },
    ls: async (path) =>
      readdirSync(hostPath(path), { withFileTypes: true })
        .map((entry) => {
          return { name: entry.name, path: join('/', path, entry.name), type: typeOf(entry) }
        })
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    glob: async (pattern) => {
      const matcher = compileGlob(pattern)
      return files().flatMap((path) => (matcher.matches(path) ? [`/${path}`] : []))
    },
    grep: async (pattern, options = {}) => {
      const search = await compileSearch(pattern, options)
      const collector = new GrepCollector(options)
      for (const path of files()) {
        await search.search(`/${path}`, decodeText(readFileSync(join(root, path))), collector)
      }
      return collector.result()
    },
    stat: async (path) => statOf(path),
    rm: async (path, options) => rmSync(join(root, normalizePath(path)), { ...options }),
    mkdir: async () => unused(),
    copy: async (from, to) => {
      const [source, target] = await Promise.all([realPath(from), realPath(to)])
      const existing = statSync(join(root, target), { throwIfNoEntry: false })
      if (existing?.isFile() === false) throw new FileSystemError('permission-denied', to)
      const { mode } = existing ?? statSync(join(root, source))
      writeFileSync(join(root, target), readFileSync(join(root, source)))
      chmodSync(join(root, target), mode & 0o777)
    },
    move: async (from, to) => renameSync(join(root, from), join(root, to)),
    readStream: async () => unused(),
    writeStream: async () => unused(),
  }
}

/** Also of what is missing; without a bound on links. */
function realOf(host: string, depth: number): string {
  if (host === '/' || depth > 200) return host
  const path = join(realOf(dirname(host), depth + 1), basename(host))
  return isLink(path) ? realOf(resolve(dirname(path), readlinkSync(path)), depth + 1) : path
}

function isLink(host: string): boolean {
  try {
    return lstatSync(host, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch (error) {
    // It lies below a file.
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw error
  }
}

/** Refuses a path that is not its own real path. */
function withoutLinks(
  fs: FileSystem,
  realPath: (path: string, options?: { followLast?: boolean }) => Promise<string>,
): FileSystem {
  const plain = async (path: string, followLast = true): Promise<string> => {
    if ((await realPath(path, { followLast })) === normalizePath(path)) return path
    throw new FileSystemError('path-escape', path)
  }
  return {
    ...fs,
    readFile: async (path) => fs.readFile(await plain(path)),
    stat: async (path) => fs.stat(await plain(path)),
    writeFile: async (path, data) => fs.writeFile(await plain(path), data),
    appendFile: async (path, data) => fs.appendFile(await plain(path), data),
    ls: async (path) => fs.ls(await plain(path)),
    grep: async (pattern, options) =>
      fs.grep(pattern, { ...options, path: await plain(options?.path ?? '/') }),
    glob: async (pattern, options) =>
      fs.glob(pattern, { ...options, path: await plain(options?.path ?? '/') }),
    rm: async (path, options) => fs.rm(await plain(path, false), options),
    move: async (from, to) => fs.move(await plain(from, false), await plain(to, false)),
  }
}

function typeOf(entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

function unused(): never {
  throw new Error('not needed by shell behaviours')
}

function realpathOf(host: string): string | undefined {
  try {
    return realpathSync(host)
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}
