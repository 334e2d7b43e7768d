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
import { SnapshotStoreError } from '@helix-agents/core'
import {
  createTimeSlice,
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotManifest,
  type SnapshotStore,
  type TimeSlice,
} from '@helix-agents/core/provider'
import { writeBytes } from './write-bytes.ts'

const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755
/** While it is filled. */
const OPEN_DIRECTORY_MODE = 0o700
const CREATE_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const ZEROS = createHash('sha256').update(new Uint8Array(SNAPSHOT_BLOCK_BYTES)).digest('hex')
/** Files that miss blocks are named in the error, so many of them. */
const MAX_NAMED = 5

/** Where the files of a snapshot come from. */
export interface TreeContent {
  readonly store: SnapshotStore
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
  #batch: SnapshotFile[] = []
  #batchBytes = 0
  #hashes = new Set<string>()

  constructor(root: string, content: TreeContent) {
    this.#root = root
    this.#content = content
  }

  async run(): Promise<void> {
    const { entries } = this.#content.manifest
    for (const entry of entries) {
      const made = this.#make(entry)
      if (made !== undefined) await made
      if (this.#slice.due) await this.#pause()
    }
    await this.#writeBatch()
    await this.#closeDirectories(entries)
  }

  async #pause(): Promise<void> {
    await this.#slice.pause()
    this.#content.signal?.throwIfAborted()
  }

  /** Undefined when it is done, or waits for its batch. */
  #make(entry: SnapshotEntry): Promise<void> | undefined {
    if (entry.type === 'file') {
      return entry.blocks.length > 1 ? this.#writeLarge(entry) : this.#addSmall(entry)
    }
    const path = this.#root + entry.path
    if (entry.type === 'directory') mkdirSync(path, { mode: OPEN_DIRECTORY_MODE })
    else symlinkSync(entry.target, path)
    return undefined
  }

  /** Directories get their modes at last: some forbid to write in them. */
  async #closeDirectories(entries: readonly SnapshotEntry[]): Promise<void> {
    for (const entry of entries.toReversed()) {
      if (entry.type !== 'directory') continue
      chmodSync(this.#root + entry.path, entry.mode ?? DIRECTORY_MODE)
      if (this.#slice.due) await this.#pause()
    }
  }

  #addSmall(file: SnapshotFile): Promise<void> | undefined {
    this.#batch.push(file)
    this.#batchBytes += file.size
    for (const hash of file.blocks) this.#hashes.add(hash)
    const isFull =
      this.#hashes.size >= SNAPSHOT_BATCH_BLOCKS ||
      this.#batch.length >= 2 * SNAPSHOT_BATCH_BLOCKS ||
      this.#batchBytes > SNAPSHOT_BATCH_BYTES / 2
    return isFull ? this.#writeBatch() : undefined
  }

  async #writeBatch(): Promise<void> {
    const [batch, hashes] = [this.#batch, this.#hashes]
    this.#batch = []
    this.#batchBytes = 0
    this.#hashes = new Set()
    const blocks = await this.#getBlocks([...hashes], batch)
    for (const file of batch) {
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
