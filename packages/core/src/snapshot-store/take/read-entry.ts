import { FileSystemError } from '../../errors/file-system-error.ts'
import { SnapshotStoreError } from '../../errors/snapshot-store-error.ts'
import type { FileEntry, FileStat, FileSystem, PathAhead } from '../../modules/fs/contract.ts'
import { parentPath } from '../../modules/fs/path/path.ts'
import type { BlockWriter } from './block-writer.ts'
import { isInnerTarget } from '../check-tree.ts'
import { inBlocks } from './in-blocks.ts'
import type { SnapshotLoss } from '../loss.ts'
import { SNAPSHOT_BLOCK_BYTES, type SnapshotEntry, type SnapshotFile } from '../manifest.ts'
import { isGone } from './walk-tree.ts'

/** A file that changes while it is read is read again so often. */
const ATTEMPTS = 3
/** A longer version is not kept, so that the file is read again. */
const MAX_VERSION_CHARACTERS = 1024

/** Reads the entries of a workspace, and stores the content of those that changed. */
export class EntryReader {
  readonly losses: SnapshotLoss[] = []
  /** Files whose content is that of the parent: they were not read. */
  reusedFiles = 0
  readonly #fs: FileSystem
  /** A file that a link replaces meanwhile is not read through it. */
  readonly #content: FileSystem
  readonly #writer: BlockWriter
  readonly #known: ReadonlyMap<string, SnapshotFile>
  /** What is known of the next paths; each is used once. */
  #ahead: Map<string, PathAhead> | undefined

  constructor(fs: FileSystem, writer: BlockWriter, known: ReadonlyMap<string, SnapshotFile>) {
    this.#fs = fs
    this.#content = fs.withoutLinks?.() ?? fs
    this.#writer = writer
    this.#known = known
  }

  /** Asks the provider for what it can say of many paths at once, without the content that the parent has. */
  async readAhead(nodes: readonly FileEntry[], signal?: AbortSignal): Promise<void> {
    this.#ahead = await this.#fs.attributes?.readAhead?.(nodes, {
      isKnown: (stat) => this.#knownOf(stat) !== undefined,
      signal,
    })
  }

  /**
   * Undefined when the path is gone, or when a loss was recorded.
   * @throws {SnapshotStoreError} `source-changed`
   */
  async read(node: FileEntry, signal?: AbortSignal): Promise<SnapshotEntry | undefined> {
    try {
      return await this.#readNode(node, signal)
    } catch (error) {
      if (!FileSystemError.isInstance(error)) throw error
      if (error.code === 'not-found') return undefined
      if (error.code !== 'permission-denied') throw error
      this.losses.push({ path: node.path, kind: 'unreadable' })
      return undefined
    }
  }

  async #readNode(node: FileEntry, signal?: AbortSignal): Promise<SnapshotEntry | undefined> {
    const { path } = node
    if (node.type === 'symlink') return this.#readLink(path)
    if (node.type === 'directory') {
      return { path, type: 'directory', ...(await this.#mode(path, this.#take(path))) }
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const file = await undefinedIfReplaced(this.#readFile(path, signal))
      if (file !== undefined) return file
    }
    throw new SnapshotStoreError('source-changed', `${path} changed each time it was read`, {
      hint: 'Take the snapshot when no command writes to the file.',
    })
  }

  /** Undefined when it changed meanwhile. */
  async #readFile(path: string, signal?: AbortSignal): Promise<SnapshotFile | undefined> {
    const ahead = this.#take(path)
    const stat = ahead?.stat ?? (await this.#content.stat(path))
    if (stat.type !== 'file') return undefined
    const known = this.#knownOf(stat)
    const blocks = known?.blocks ?? (await this.#storeContent(stat, ahead?.bytes, signal))
    if (blocks === undefined) return undefined
    if (known !== undefined) this.reusedFiles += 1
    const { size, version } = stat
    const mode = await this.#mode(path, ahead)
    const isShort = version.length <= MAX_VERSION_CHARACTERS
    return { path, type: 'file', size, blocks, ...mode, ...(isShort && { version }) }
  }

  /** The file of the parent, for the same version. */
  #knownOf({ path, size, version }: FileStat): SnapshotFile | undefined {
    const known = this.#known.get(path)
    return known?.version === version && known.size === size ? known : undefined
  }

  #take(path: string): PathAhead | undefined {
    const ahead = this.#ahead?.get(path)
    this.#ahead?.delete(path)
    return ahead
  }

  /** Hashes of the blocks, or undefined when the file changed meanwhile. */
  async #storeContent(
    { path, size, version }: FileStat,
    whole: Uint8Array | undefined,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    if (whole?.length === size) return size === 0 ? [] : [await this.#writer.add(whole)]
    const hashes: string[] = []
    let bytes = 0
    for await (const block of this.#blocks(path, size, signal)) {
      bytes += block.length
      if (bytes > size) return undefined
      hashes.push(await this.#writer.add(block))
    }
    const after = await this.#content.stat(path)
    return after.version === version && bytes === size ? hashes : undefined
  }

  async *#blocks(path: string, size: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    if (size === 0) return
    if (size <= SNAPSHOT_BLOCK_BYTES) {
      yield await this.#content.readFile(path)
      return
    }
    yield* inBlocks(await this.#content.readStream(path, { ...(signal && { signal }) }))
  }

  async #mode(path: string, ahead?: PathAhead): Promise<{ readonly mode?: number }> {
    const mode = ahead?.mode ?? (await this.#fs.attributes?.readMode?.(path))
    return mode === undefined ? {} : { mode: mode & 0o777 }
  }

  async #readLink(path: string): Promise<SnapshotEntry | undefined> {
    const target = await this.#targetOf(path)
    if (target !== undefined) return { path, type: 'symlink', target }
    this.losses.push({ path, kind: 'link' })
    return undefined
  }

  /** As it is stored where that is portable, else the path that it resolves to. */
  async #targetOf(path: string): Promise<string | undefined> {
    const stored = await this.#fs.attributes?.readLink?.(path)
    if (stored !== undefined && isInnerTarget(path, stored)) return stored
    try {
      const real = await this.#fs.realPath?.(path)
      return real === undefined ? undefined : relativeTarget(path, real)
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }
}

/** Undefined when something else is at the path of a file now. */
async function undefinedIfReplaced<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    const isMissing = FileSystemError.isInstance(error) && error.code === 'not-found'
    if (isGone(error) && !isMissing) return undefined
    throw error
  }
}

function relativeTarget(link: string, target: string): string {
  const from = parentPath(link).split('/').filter(Boolean)
  const to = target.split('/').filter(Boolean)
  let shared = 0
  while (shared < from.length && from[shared] === to[shared]) shared += 1
  const names = [...from.slice(shared).fill('..'), ...to.slice(shared)]
  return names.length === 0 ? '.' : names.join('/')
}
