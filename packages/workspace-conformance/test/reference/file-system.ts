import { FileSystemError, type FileSystemErrorCode } from '@helix-agents/core'
import {
  baseName,
  compareCodePoints,
  compileGlob,
  compileSearch,
  decodeText,
  type FileStat,
  type FileSystem,
  GrepCollector,
  INTERNAL_DIRECTORY,
  isBinary,
  isWithin,
  normalizePath,
  parentPath,
  toBytes,
  type TransferOptions,
  type WriteOptions,
} from '@helix-agents/core/provider'

interface Node {
  readonly data: Uint8Array | undefined
  readonly version: number
}

function fail(code: FileSystemErrorCode, path: string): never {
  throw new FileSystemError(code, path)
}

/** The simplest file system that keeps the contract: one flat map. Saboteurs break one method. */
export function createReference(maxFileBytes = Infinity): FileSystem {
  const nodes = new Map<string, Node>([['/', { data: undefined, version: 0 }]])
  let clock = 0

  const find = (path: string): Node => nodes.get(path) ?? fail('not-found', path)
  const below = (path: string): string[] =>
    [...nodes.keys()]
      .filter((key) => key !== path && isWithin(key, path))
      .toSorted(compareCodePoints)
  const file = (path: string): Uint8Array => find(path).data ?? fail('is-directory', path)
  const put = (path: string, data?: Uint8Array): void =>
    void nodes.set(path, { data, version: ++clock })
  const makeParents = (path: string): void => {
    const missing: string[] = []
    for (let at = parentPath(path); !nodes.has(at); at = parentPath(at)) missing.push(at)
    const first = nodes.get(parentPath(missing.at(-1) ?? path))
    if (first?.data !== undefined) fail('not-directory', path)
    for (const directory of missing) put(directory)
  }
  const statOf = (path: string): FileStat => {
    const { data, version } = find(path)
    const type = data === undefined ? 'directory' : 'file'
    const mtime = new Date(1_700_000_000_000 + version)
    return { path, type, size: data?.length ?? 0, mtime, version: `v${version}` }
  }
  const checkWrite = (path: string, options: WriteOptions = {}): void => {
    const node = nodes.get(path)
    if (node !== undefined && node.data === undefined) fail('is-directory', path)
    if (options.ifAbsent && node !== undefined) fail('already-exists', path)
    if (options.ifVersion !== undefined && options.ifVersion !== `v${node?.version}`) {
      fail('stale-write', path)
    }
  }
  const write = (path: string, data: Uint8Array, options?: WriteOptions): FileStat => {
    checkWrite(path, options)
    if (data.length > maxFileBytes) fail('too-large', path)
    makeParents(path)
    put(path, new Uint8Array(data))
    return statOf(path)
  }
  const checkTransfer = (from: string, to: string, options?: TransferOptions): void => {
    const source = find(from)
    const target = nodes.get(to)
    if (source.data === undefined && isWithin(to, from)) fail('invalid-path', to)
    if (target !== undefined && !options?.overwrite) fail('already-exists', to)
    if (target !== undefined && target.data === undefined) fail('is-directory', to)
  }
  const copy = (from: string, to: string, options?: TransferOptions): void => {
    checkTransfer(from, to, options)
    if (from === to) return
    for (const path of below(from)) normalizePath(to + path.slice(from.length))
    makeParents(to)
    for (const path of [from, ...below(from)]) put(to + path.slice(from.length), find(path).data)
  }
  const filesBelow = (path: string): string[] =>
    [path, ...below(path)].filter(
      (key) =>
        nodes.get(key)?.data !== undefined &&
        (isWithin(path, INTERNAL_DIRECTORY) || !isWithin(key, INTERNAL_DIRECTORY)),
    )

  return {
    readFile: async (path) => file(normalizePath(path)).slice(),
    writeFile: async (path, data, options) => write(normalizePath(path), toBytes(data), options),
    appendFile: async (path, data) => {
      const normal = normalizePath(path)
      checkWrite(normal)
      const old = nodes.get(normal)?.data ?? new Uint8Array()
      return write(normal, Uint8Array.from([...old, ...toBytes(data)]))
    },
    ls: async (path) => {
      const normal = normalizePath(path)
      if (find(normal).data !== undefined) fail('not-directory', path)
      return below(normal)
        .filter((key) => parentPath(key) === normal)
        .toSorted((a, b) => compareCodePoints(baseName(a), baseName(b)))
        .map((key) => {
          const data = nodes.get(key)?.data
          const entry = { name: baseName(key), path: key }
          if (data === undefined) return { ...entry, type: 'directory' as const }
          return { ...entry, type: 'file' as const, size: data.length }
        })
    },
    glob: async (pattern, options = {}) => {
      options.signal?.throwIfAborted()
      const matcher = compileGlob(pattern)
      const path = normalizePath(options.path ?? '/')
      find(path)
      const start = path === '/' ? 1 : path.length + 1
      return filesBelow(path)
        .filter((key) => matcher.matches(key.slice(start)))
        .slice(0, options.limit ?? Infinity)
    },
    grep: async (pattern, options = {}) => {
      const search = await compileSearch(pattern, options)
      const path = normalizePath(options.path ?? '/')
      find(path)
      const collector = new GrepCollector(options)
      for (const key of filesBelow(path)) {
        options.signal?.throwIfAborted()
        if (collector.full || !search.includes(key)) continue
        const data = file(key)
        if (data.length > collector.maxFileBytes) collector.skipLarge(key)
        else if (isBinary(data)) collector.skipBinary(key)
        else await search.search(key, decodeText(data), collector)
      }
      options.signal?.throwIfAborted()
      return collector.result()
    },
    stat: async (path) => statOf(normalizePath(path)),
    mkdir: async (path, options) => {
      const normal = normalizePath(path)
      const existing = nodes.get(normal)
      if (existing?.data === undefined && existing !== undefined && options?.recursive) return
      if (existing !== undefined) fail('already-exists', path)
      if (!options?.recursive) find(parentPath(normal))
      makeParents(normal)
      put(normal)
    },
    rm: async (path, options) => {
      const normal = normalizePath(path)
      find(normal)
      const inside = below(normal)
      if (inside.length > 0 && !options?.recursive) fail('not-empty', path)
      for (const key of normal === '/' ? inside : [normal, ...inside]) nodes.delete(key)
    },
    copy: async (from, to, options) => copy(normalizePath(from), normalizePath(to), options),
    move: async (from, to, options) => {
      const [source, target] = [normalizePath(from), normalizePath(to)]
      copy(source, target, options)
      if (source === target) return
      for (const key of [source, ...below(source)]) nodes.delete(key)
    },
    readStream: async (path, { offset = 0, length = Infinity } = {}) => {
      const data = file(normalizePath(path)).slice(offset, offset + length)
      return new Blob([data]).stream()
    },
    writeStream: async (path, source, options) => {
      const normal = normalizePath(path)
      checkWrite(normal, options)
      const data = new Uint8Array(await new Response(source).arrayBuffer())
      return write(normal, data, options)
    },
  }
}
