import type {
  AppendOptions,
  DriverAttributes,
  DriverEntry,
  DriverFile,
  DriverFiles,
  DriverMode,
  ListOptions,
  ReadManyOptions,
  ReadOptions,
  SearchOutcome,
  SearchQuery,
  TransferOptions,
  WriteOptions,
} from '../port.ts'
import { DriverError } from '../driver-error.ts'
import { inCalls } from '../script/compose.ts'
import { decodeText, eachName, readEntries, readEntry, readStatus } from '../script/file-reply.ts'
import type { ScriptReply } from '../script/reply.ts'
import {
  copyScript,
  listScript,
  makeDirectoryScript,
  makeLinkScript,
  moveScript,
  readLinkScript,
  realPathScript,
  removeScript,
  searchScript,
  statManyScript,
  statScript,
  writeModesScript,
} from '../script/tree-scripts.ts'
import type { FileLink } from './container-link.ts'
import { readBytes, readMany, readStream } from './read-file.ts'
import { appendBytes, writeBytes, writeStream } from './write-file.ts'

const REPEATABLE = { isRepeatable: true }
/** A subtree may be large. */
const TRANSFER = { deadlineMs: 10 * 60_000 }
const DEFAULT_MAX_ENTRIES = 100_000

/** Files by scripts: one round trip an operation, large contents beside it as streams. */
export class ScriptFiles implements DriverFiles {
  readonly #link: FileLink

  constructor(link: FileLink) {
    this.#link = link
  }

  read(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    return readBytes(this.#link, path, options)
  }

  readStream(path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return readStream(this.#link, path, options)
  }

  write(path: string, data: Uint8Array, options: WriteOptions = {}): Promise<DriverEntry> {
    this.#link.largeFiles.record(path, data.length)
    return writeBytes(this.#link, { path, data }, options)
  }

  writeStream(
    path: string,
    data: ReadableStream<Uint8Array>,
    options: WriteOptions = {},
  ): Promise<DriverEntry> {
    return writeStream(this.#link, { path, data }, options)
  }

  append(path: string, data: Uint8Array, options: AppendOptions = {}): Promise<DriverEntry> {
    return appendBytes(this.#link, { path, data }, options)
  }

  async stat(path: string, signal?: AbortSignal): Promise<DriverEntry> {
    const entry = readEntry(await this.#ask(statScript(path), signal), path)
    this.#link.largeFiles.record(path, entry.sizeBytes)
    return entry
  }

  async list(path: string, options: ListOptions = {}): Promise<readonly DriverEntry[]> {
    const { recursive = false, maxEntries = DEFAULT_MAX_ENTRIES, skip, signal } = options
    const script = listScript(path, { isRecursive: recursive, maxEntries, skip })
    const entries = await readEntries(await this.#ask(script, signal), signal)
    if (entries.length <= maxEntries) return entries
    const detail = `the directory has more than ${maxEntries} entries`
    throw new DriverError('too-large', detail, { admitted: 'yes' })
  }

  async makeDirectory(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    await this.#link.ask(makeDirectoryScript(path, options.recursive ?? false))
  }

  async remove(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    await this.#link.ask(removeScript(path, options.recursive ?? false))
  }

  async copy(from: string, to: string, options: TransferOptions = {}): Promise<DriverEntry> {
    const script = copyScript(from, to, options)
    return readEntry(await this.#link.ask(script, TRANSFER), to)
  }

  async move(from: string, to: string, options: TransferOptions = {}): Promise<DriverEntry> {
    const script = moveScript(from, to, options)
    return readEntry(await this.#link.ask(script, TRANSFER), to)
  }

  readMany(paths: readonly string[], options: ReadManyOptions): Promise<readonly DriverFile[]> {
    return readMany(this.#link, paths, options)
  }

  get attributes(): DriverAttributes {
    return new ScriptAttributes(this.#link.refusingLinks())
  }

  async realPath(path: string, options: { readonly followLast: boolean }): Promise<string> {
    const { payload } = await this.#ask(realPathScript(path, options.followLast), undefined)
    const relative = decodeText(payload.trim())
    return relative === '' ? this.#link.settings.root : `${this.#link.settings.root}/${relative}`
  }

  withoutLinks(): DriverFiles {
    return new ScriptFiles(this.#link.refusingLinks())
  }

  async search(path: string, query: SearchQuery): Promise<SearchOutcome> {
    const { payload, fields } = await this.#ask(searchScript(path, query), query.signal)
    const isFile = fields[0] !== '.'
    const [found = payload, large = ''] = payload.split('\n')
    const paths = await relativeNames(found, { isFile, signal: query.signal })
    const tooLarge = await relativeNames(large, { isFile, signal: query.signal })
    const isWhole = paths.length <= query.maxFiles && tooLarge.length <= query.maxFiles
    return {
      paths: paths.slice(0, query.maxFiles),
      tooLarge: tooLarge.slice(0, query.maxFiles),
      complete: isWhole,
    }
  }

  #ask(script: string, signal: AbortSignal | undefined): Promise<ScriptReply> {
    return this.#link.ask(script, { ...REPEATABLE, ...(signal !== undefined && { signal }) })
  }
}

/** Links and permissions by scripts, many paths in one round trip. */
class ScriptAttributes implements DriverAttributes {
  readonly #link: FileLink

  /** @param link Rejects links on the way. */
  constructor(link: FileLink) {
    this.#link = link
  }

  async statMany(
    paths: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly ((DriverEntry & DriverMode) | undefined)[]> {
    const found: ((DriverEntry & DriverMode) | undefined)[] = []
    for (const asked of inCalls(paths, (path) => path)) {
      const { payload } = await this.#link.ask(statManyScript(asked), {
        isRepeatable: true,
        ...(signal && { signal }),
      })
      const lines = payload.split('\n')
      found.push(...asked.map((path, index) => readStatus(lines[index] ?? '-', path)))
    }
    return found
  }

  async writeModes(modes: readonly DriverMode[], signal?: AbortSignal): Promise<void> {
    for (const some of inCalls(modes, ({ path }) => path)) {
      await this.#link.ask(writeModesScript(some), {
        isRepeatable: true,
        ...(signal && { signal }),
      })
    }
  }

  async readLink(path: string): Promise<string> {
    const { payload } = await this.#link.ask(readLinkScript(path), { isRepeatable: true })
    return decodeText(payload.trim())
  }

  async makeLink(path: string, target: string): Promise<void> {
    await this.#link.ask(makeLinkScript(path, target))
  }
}

/** Of a file that was searched by itself, the path is empty. */
async function relativeNames(
  encoded: string,
  { isFile, signal }: { readonly isFile: boolean; readonly signal: AbortSignal | undefined },
): Promise<readonly string[]> {
  const names: string[] = []
  await eachName(encoded, signal, (name) =>
    names.push(isFile ? '' : name.startsWith('./') ? name.slice(2) : name),
  )
  return names
}
