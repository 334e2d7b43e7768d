// The files of a container in memory: the store of the in-memory provider, behind the port.
import { FileSystemError } from '@helix-agents/core'
import { createTimeSlice, type FileStat, type TimeSlice } from '@helix-agents/core/provider'
import { DriverError, type DriverErrorCode } from '@helix-agents/workspace-cloudflare-sandbox'
import type {
  AppendOptions,
  DriverEntry,
  DriverFile,
  DriverFiles,
  ListOptions,
  ReadManyOptions,
  ReadOptions,
  SearchOutcome,
  SearchQuery,
  TransferOptions,
  WriteOptions,
} from '../../src/driver/port.ts'
import type { Container } from './memory-world.ts'

const ROOT = '/workspace'

const CODES: Readonly<Record<string, DriverErrorCode>> = {
  'already-exists': 'exists',
  'stale-write': 'version-conflict',
  'permission-denied': 'denied',
  'invalid-path': 'name-too-long',
}

export function inside(path: string): string {
  return path === ROOT ? '/' : path.slice(ROOT.length)
}

export class MemoryFiles implements DriverFiles {
  readonly #reach: (name: string) => Promise<Container>

  constructor(reach: (name: string) => Promise<Container>) {
    this.#reach = reach
  }

  read(path: string, { maxBytes = Infinity, signal }: ReadOptions = {}): Promise<Uint8Array> {
    return this.#do('read', async ({ fs }) => {
      const { size } = await fs.stat(inside(path))
      if (size > maxBytes) throw new DriverError('too-large', 'x', { admitted: 'yes' })
      signal?.throwIfAborted()
      return fs.readFile(inside(path))
    })
  }

  /** There are no links in memory. */
  async realPath(path: string): Promise<string> {
    return path
  }

  withoutLinks(): DriverFiles {
    return this
  }

  readStream(path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#do('readStream', ({ fs }) => fs.readStream(inside(path), options))
  }

  write(path: string, data: Uint8Array, options?: WriteOptions): Promise<DriverEntry> {
    return this.#do('write', async ({ fs }) =>
      toEntry(await fs.writeFile(inside(path), data, options)),
    )
  }

  writeStream(
    path: string,
    data: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<DriverEntry> {
    return this.#do('writeStream', async ({ fs }) =>
      toEntry(await fs.writeStream(inside(path), data, options)),
    )
  }

  append(path: string, data: Uint8Array, options: AppendOptions = {}): Promise<DriverEntry> {
    return this.#do('append', async ({ fs }) => {
      const before = await fs.stat(inside(path)).catch(() => ({ size: 0 }))
      if (before.size + data.length > (options.maxBytes ?? Infinity)) {
        throw new DriverError('too-large', 'x', { admitted: 'yes' })
      }
      return toEntry(await fs.appendFile(inside(path), data))
    })
  }

  stat(path: string): Promise<DriverEntry> {
    return this.#do('stat', async ({ fs }) => toEntry(await fs.stat(inside(path))))
  }

  list(path: string, options: ListOptions = {}): Promise<readonly DriverEntry[]> {
    return this.#do('list', async (container) => {
      const entries = await listTree(container, inside(path), options)
      if (entries.length <= (options.maxEntries ?? Infinity)) return entries
      throw new DriverError('too-large', 'x', { admitted: 'yes' })
    })
  }

  makeDirectory(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.#do('makeDirectory', ({ fs }) => fs.mkdir(inside(path), options))
  }

  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.#do('remove', ({ fs }) => fs.rm(inside(path), options))
  }

  copy(from: string, to: string, options?: TransferOptions): Promise<DriverEntry> {
    return this.#do('copy', async ({ fs }) => {
      await fs.copy(inside(from), inside(to), options)
      return toEntry(await fs.stat(inside(to)))
    })
  }

  move(from: string, to: string, options?: TransferOptions): Promise<DriverEntry> {
    return this.#do('move', async ({ fs }) => {
      await fs.move(inside(from), inside(to), options)
      return toEntry(await fs.stat(inside(to)))
    })
  }

  search(path: string, query: SearchQuery): Promise<SearchOutcome> {
    return this.#do('search', async (container) => {
      const start = await container.fs.stat(inside(path))
      const entries =
        start.type === 'directory'
          ? await listTree(container, inside(path), { ...query, recursive: true })
          : [{ ...toEntry(start), path: '' }]
      const files = entries.filter((entry) => entry.type === 'file')
      const small = files.filter((entry) => entry.sizeBytes <= query.maxFileBytes)
      const slice = createContainerSlice()
      const literal = latin1(query.literal)
      const hits: DriverEntry[] = []
      for (const entry of small) {
        const bytes = await container.fs.readFile(`${inside(path)}/${entry.path}`)
        if (new TextDecoder('latin1').decode(bytes).includes(literal)) hits.push(entry)
        if (slice.due) await slice.pause()
      }
      query.signal?.throwIfAborted()
      return {
        paths: hits.map((entry) => entry.path).slice(0, query.maxFiles),
        tooLarge: files
          .filter((entry) => entry.sizeBytes > query.maxFileBytes)
          .map((entry) => entry.path),
        complete: hits.length <= query.maxFiles,
      }
    })
  }

  readMany(paths: readonly string[], _options: ReadManyOptions): Promise<readonly DriverFile[]> {
    return this.#do('readMany', ({ fs }) =>
      Promise.all(paths.map(async (path) => ({ path, bytes: await fs.readFile(inside(path)) }))),
    )
  }

  async #do<T>(name: string, run: (container: Container) => Promise<T>): Promise<T> {
    const container = await this.#reach(name)
    try {
      return await run(container)
    } catch (error) {
      throw toDriverError(error)
    }
  }
}

function toDriverError(error: unknown): unknown {
  if (!FileSystemError.isInstance(error)) return error
  const code = CODES[error.code] ?? (error.code as DriverErrorCode)
  return new DriverError(code, error.message, { admitted: 'yes', cause: error })
}

function toEntry(stat: FileStat): DriverEntry {
  const { path, type, size: sizeBytes, mtime, version } = stat
  return { path, type, sizeBytes, modifiedAtMs: mtime.getTime(), version }
}

/** What a container does by itself never holds the process of the agent. */
export function createContainerSlice(): TimeSlice {
  return createTimeSlice(2, 256)
}

async function listTree(
  container: Container,
  directory: string,
  options: ListOptions,
): Promise<DriverEntry[]> {
  const entries: DriverEntry[] = []
  const slice = createContainerSlice()
  const open = [{ directory, prefix: '' }]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { name, path, type } of await container.fs.ls(at.directory)) {
      options.signal?.throwIfAborted()
      const relative = at.prefix + name
      if (type !== 'symlink') {
        entries.push({ ...toEntry(await container.fs.stat(path)), path: relative })
      }
      const isEntered = options.recursive === true && relative !== options.skip
      if (type === 'directory' && isEntered) open.push({ directory: path, prefix: `${relative}/` })
      if (slice.due) await slice.pause()
    }
  }
  return entries
}

function latin1(text: string): string {
  return new TextDecoder('latin1').decode(new TextEncoder().encode(text))
}
