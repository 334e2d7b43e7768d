import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, posix } from 'node:path'
import { FileSystemError } from '@helix-agents/core'
import {
  baseName,
  compareCodePoints,
  type FileStat,
  type FileSystem,
  toBytes,
} from '@helix-agents/core/provider'
import type { ThrowAwayHost } from './throw-away-host.ts'

/** How a path of the workspace becomes one of the host. */
export type Mapping = (path: string, isRecursive?: boolean) => string

function found(path: string, real: string): string {
  if (lstatSync(real, { throwIfNoEntry: false }) !== undefined) return real
  throw new FileSystemError('not-found', path)
}

function statOf(path: string, real: string): FileStat {
  const { size, mtime, mtimeMs } = statSync(found(path, real))
  const type = statSync(real).isDirectory() ? 'directory' : 'file'
  return { path, type, size, mtime, version: `${mtimeMs}.${size}` }
}

function write(path: string, real: string, data: Uint8Array): FileStat {
  mkdirSync(dirname(real), { recursive: true })
  writeFileSync(real, data)
  return statOf(path, real)
}

/** As the contract has it: the root stays, and what is full goes only with its content. */
function remove(path: string, real: string, isRecursive = false): void {
  const isDirectory = statSync(found(path, real)).isDirectory()
  if (isDirectory && !isRecursive && readdirSync(real).length > 0)
    throw new FileSystemError('not-empty', path)
  rmSync(real, { recursive: true })
  if (path === '/') mkdirSync(real)
}

function walk(real: string, path: string): string[] {
  return readdirSync(real, { withFileTypes: true }).flatMap((entry) => {
    const inner = posix.join(path, entry.name)
    return entry.isDirectory() ? walk(`${real}/${entry.name}`, inner) : [inner]
  })
}

/** Files of a workspace on a host, each call with a mapping of its own. */
export function createHostFiles(
  host: ThrowAwayHost,
  mappingOf: (call: keyof FileSystem) => Mapping,
): FileSystem {
  const at = (call: keyof FileSystem, path: string): string => host.path(mappingOf(call)(path))
  return {
    readFile: async (path) => new Uint8Array(readFileSync(found(path, at('readFile', path)))),
    writeFile: async (path, data) => write(path, at('writeFile', path), toBytes(data)),
    appendFile: async (path, data) => write(path, at('appendFile', path), toBytes(data)),
    ls: async (path) =>
      readdirSync(found(path, at('ls', path)), { withFileTypes: true })
        .map((entry) => {
          const type = entry.isDirectory() ? ('directory' as const) : ('file' as const)
          return { name: entry.name, path: posix.join('/', path, entry.name), type }
        })
        .toSorted((a, b) => compareCodePoints(baseName(a.path), baseName(b.path))),
    stat: async (path) => statOf(path, at('stat', path)),
    mkdir: async (path) => void mkdirSync(at('mkdir', path), { recursive: true }),
    rm: async (path, options) =>
      remove(path, host.path(mappingOf('rm')(path, options?.recursive)), options?.recursive),
    copy: async (from, to) =>
      cpSync(found(from, at('copy', from)), at('copy', to), { recursive: true }),
    move: async (from, to) => renameSync(found(from, at('move', from)), at('move', to)),
    glob: async (_, options) => {
      const path = options?.path ?? '/'
      return walk(found(path, at('glob', path)), '/').toSorted()
    },
    grep: async (_, options) => {
      found(options?.path ?? '/', at('grep', options?.path ?? '/'))
      return { matches: [], truncated: false, skipped: [] } as never
    },
    readStream: async (path) =>
      new Blob([readFileSync(found(path, at('readStream', path)))]).stream(),
    writeStream: async (path, source) => {
      const data = new Uint8Array(await new Response(source).arrayBuffer())
      return write(path, at('writeStream', path), data)
    },
  }
}
