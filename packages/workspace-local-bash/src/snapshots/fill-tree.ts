import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { SnapshotStoreError } from '@helix-agents/core'
import {
  createTimeSlice,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotManifest,
  type TimeSlice,
} from '@helix-agents/core/provider'
import { type FileBatch, inBatches } from './read-ahead/file-batches.ts'
import { ReadAhead } from './read-ahead/read-ahead.ts'
import type { DirectorySnapshotStore } from './store/directory-snapshot-store.ts'
import { writeBytes } from './write-bytes.ts'

const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755
/** While it is filled. */
const OPEN_DIRECTORY_MODE = 0o700
const CREATE_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const ZEROS = createHash('sha256').update(new Uint8Array(SNAPSHOT_BLOCK_BYTES)).digest('hex')
/** Files that miss blocks are named in the error, so many of them. */
const MAX_NAMED = 5
/** From so many batches on, a thread reads ahead: it takes about as long to start as to read two. */
const THREAD_BATCHES = 4

/** Contents by their hashes. */
type Blocks = ReadonlyMap<string, Uint8Array>

/** Where the files of a snapshot come from. */
export interface TreeContent {
  readonly store: DirectorySnapshotStore
  readonly scope: string
  readonly manifest: SnapshotManifest
  readonly signal: AbortSignal | undefined
}

/**
 * Fills an empty directory with the files of a snapshot, in memory that does not grow with them. Each
 * entry is made new: nothing that is there is followed or replaced. Zeros become holes.
 *
 * @param root canonical path on the host, below what only this user enters.
 * @throws {SnapshotStoreError} `corrupt`, `missing-blocks`, naming files; else the system's error.
 */
export async function fillTree(root: string, content: TreeContent): Promise<void> {
  await new TreeFill(root, content).run()
}

class TreeFill {
  readonly #root: string
  readonly #content: TreeContent
  readonly #slice: TimeSlice = createTimeSlice()
  /** Modes that the system gives as they are asked for, whatever the mask of the process. */
  readonly #plainModes = new Map<number, boolean>()

  constructor(root: string, content: TreeContent) {
    this.#root = root
    this.#content = content
  }

  async run(): Promise<void> {
    const { entries } = this.#content.manifest
    const small: SnapshotFile[] = []
    const large: SnapshotFile[] = []
    for (const entry of entries) {
      if (entry.type === 'file') (entry.blocks.length > 1 ? large : small).push(entry)
      else this.#make(entry)
      if (this.#slice.due) await this.#pause()
    }
    await this.#writeBatches(await inBatches(small, this.#slice))
    for (const file of large) await this.#writeLarge(file)
    await this.#closeDirectories(entries)
  }

  async #pause(): Promise<void> {
    await this.#slice.pause()
    this.#content.signal?.throwIfAborted()
  }

  #make(entry: Exclude<SnapshotEntry, SnapshotFile>): void {
    const path = this.#root + entry.path
    if (entry.type === 'directory') mkdirSync(path, { mode: OPEN_DIRECTORY_MODE })
    else symlinkSync(entry.target, path)
  }

  /** Directories get their modes at last: some forbid to write in them. */
  async #closeDirectories(entries: readonly SnapshotEntry[]): Promise<void> {
    for (const entry of entries.toReversed()) {
      if (entry.type !== 'directory') continue
      chmodSync(this.#root + entry.path, entry.mode ?? DIRECTORY_MODE)
      if (this.#slice.due) await this.#pause()
    }
  }

  async #writeBatches(batches: readonly FileBatch[]): Promise<void> {
    const { store, scope } = this.#content
    const directory = batches.length < THREAD_BATCHES ? undefined : store.blockDirectory(scope)
    const isUseful = directory !== undefined && availableParallelism() > 1
    if (!isUseful) {
      for (const batch of batches) await this.#writeBatch(batch)
      return
    }
    const ahead = new ReadAhead(directory, batches)
    try {
      for (let next = await ahead.next(); next !== undefined; next = await ahead.next()) {
        const batch = batches[next.index]
        if (batch !== undefined) await this.#writeBatch(batch, next.blocks)
      }
    } finally {
      ahead.close()
    }
  }

  async #writeBatch({ files, hashes }: FileBatch, read?: Blocks): Promise<void> {
    await this.#writeFiles(files, read ?? (await this.#getBlocks(hashes, files)))
  }

  async #writeFiles(files: readonly SnapshotFile[], blocks: Blocks): Promise<void> {
    for (const file of files) {
      const [hash] = file.blocks
      const bytes = hash === undefined ? undefined : blocks.get(hash)
      const fd = this.#create(file)
      try {
        const written = bytes && writeBytes(fd, bytes, 0)
        if (written !== undefined) await written
      } finally {
        closeSync(fd)
      }
      if (this.#slice.due) await this.#pause()
    }
  }

  async #writeLarge(file: SnapshotFile): Promise<void> {
    const fd = this.#create(file)
    try {
      for (let at = 0; at < file.blocks.length; at += BLOCKS_AT_ONCE) {
        await this.#writeBlocks(fd, file, at)
        await this.#pause()
      }
      ftruncateSync(fd, file.size)
    } finally {
      closeSync(fd)
    }
  }

  async #writeBlocks(fd: number, file: SnapshotFile, start: number): Promise<void> {
    const hashes = file.blocks.slice(start, start + BLOCKS_AT_ONCE)
    const wanted = [...new Set(hashes)].filter((hash) => hash !== ZEROS)
    const blocks = await this.#getBlocks(wanted, [file])
    for (const [index, hash] of hashes.entries()) {
      const bytes = blocks.get(hash)
      if (bytes !== undefined) await writeBytes(fd, bytes, (start + index) * SNAPSHOT_BLOCK_BYTES)
      if (this.#slice.due) await this.#pause()
    }
  }

  #create({ path, mode = FILE_MODE }: SnapshotFile): number {
    const fd = openSync(this.#root + path, CREATE_FILE, mode)
    const isPlain = this.#plainModes.get(mode) ?? (fstatSync(fd).mode & 0o777) === mode
    this.#plainModes.set(mode, isPlain)
    if (!isPlain) fchmodSync(fd, mode)
    return fd
  }

  async #getBlocks(
    hashes: readonly string[],
    files: readonly SnapshotFile[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    if (hashes.length === 0) return new Map()
    const { store, scope } = this.#content
    const blocks = await store.getBlocks(scope, hashes)
    const missing = new Set(hashes.filter((hash) => !blocks.has(hash)))
    if (missing.size === 0) return blocks
    const without = files.filter((file) => file.blocks.some((hash) => missing.has(hash)))
    const named = without.slice(0, MAX_NAMED).map(({ path }) => path)
    const more = without.length > named.length ? ` and ${without.length - named.length} more` : ''
    throw new SnapshotStoreError(
      'missing-blocks',
      `the snapshot is damaged: the content of ${named.join(', ')}${more} is missing`,
    )
  }
}

const BLOCKS_AT_ONCE = SNAPSHOT_BATCH_BYTES / SNAPSHOT_BLOCK_BYTES
