import { hash as hashOf } from 'node:crypto'
import {
  closeSync,
  constants,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SnapshotStoreError } from '@helix-agents/core'
import { SNAPSHOT_BLOCK_BYTES, type SnapshotBlock } from '@helix-agents/core/provider'
import { errnoOf } from '../../file-system/map-error.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'
import { SYNC_BYTES, writeBytes } from '../write-bytes.ts'

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const readAsync = promisify(read)
const HASH = /^[0-9a-f]{64}$/
const FOLDER = /^[0-9a-f]{2}$/

/** The blocks of one scope, each a file named by its hash. Its time says when it was wanted last. */
export class BlockFiles {
  readonly #directory: string
  readonly #folders = new Set<string>()
  /** Of all drafts; a number follows. */
  readonly #draftName = unguessableName()
  #drafts = 0
  readonly #buffer = new Uint8Array(SYNC_BYTES + 1)

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @param block Its bytes match its hash. */
  async put({ hash, bytes }: SnapshotBlock, nowMs: number): Promise<void> {
    const path = this.#pathOf(hash)
    if (sizeOf(path) === bytes.length && touch(path, nowMs)) return
    this.#makeFolder(hash)
    this.#drafts += 1
    const draft = `${this.#directory}/draft-${this.#draftName}-${this.#drafts}`
    try {
      const fd = openSync(draft, 'wx', 0o600)
      try {
        const written = writeBytes(fd, bytes, 0)
        if (written !== undefined) await written
        futimesSync(fd, nowMs / 1000, nowMs / 1000)
      } finally {
        closeSync(fd)
      }
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  /** Starts its grace period again. False: it is not there. */
  touch(hash: string, nowMs: number): boolean {
    const path = this.#pathOf(hash)
    return sizeOf(path) !== undefined && touch(path, nowMs)
  }

  has(hash: string): boolean {
    return lstatSync(this.#pathOf(hash), { throwIfNoEntry: false })?.isFile() === true
  }

  /**
   * Undefined when it is not there; a promise for a large one, which a thread reads.
   * @throws {SnapshotStoreError} `corrupt`
   */
  get(hash: string): Uint8Array | Promise<Uint8Array> | undefined {
    const fd = tryOpen(this.#pathOf(hash))
    if (fd === undefined) return undefined
    let length = 0
    try {
      // A file gives less than it is asked for only at its end.
      length = readSync(fd, this.#buffer, 0, SYNC_BYTES + 1, 0)
    } finally {
      if (length <= SYNC_BYTES) closeSync(fd)
    }
    return length <= SYNC_BYTES ? checked(this.#buffer.slice(0, length), hash) : readLarge(fd, hash)
  }

  /** Hashes of the blocks that are there. */
  *list(): Generator<string> {
    for (const folder of namesIn(this.#directory)) {
      if (!FOLDER.test(folder)) continue
      for (const rest of namesIn(join(this.#directory, folder))) {
        if (HASH.test(folder + rest)) yield folder + rest
      }
    }
  }

  /** Bytes of a block, and when it was wanted last. Undefined when it is gone. */
  stat(hash: string): { readonly bytes: number; readonly wantedMs: number } | undefined {
    const stats = lstatSync(this.#pathOf(hash), { throwIfNoEntry: false })
    return stats && { bytes: stats.size, wantedMs: Math.round(stats.mtimeMs) }
  }

  delete(hash: string): void {
    rmSync(this.#pathOf(hash), { force: true })
  }

  /** Removes what an interrupted put left. */
  deleteDrafts(untilMs: number): void {
    for (const name of namesIn(this.#directory)) {
      const path = join(this.#directory, name)
      const stats = name.startsWith('draft-') && lstatSync(path, { throwIfNoEntry: false })
      if (stats && stats.mtimeMs < untilMs) unlinkSync(path)
    }
  }

  #pathOf(hash: string): string {
    if (!HASH.test(hash)) throw new SnapshotStoreError('invalid-manifest', 'that is not a hash')
    return `${this.#directory}/${hash.slice(0, 2)}/${hash.slice(2)}`
  }

  #makeFolder(hash: string): void {
    const folder = hash.slice(0, 2)
    if (this.#folders.has(folder)) return
    mkdirSync(join(this.#directory, folder), { recursive: true, mode: 0o700 })
    this.#folders.add(folder)
  }
}

export function sha256(bytes: Uint8Array): string {
  return hashOf('sha256', bytes, 'hex')
}

/** @throws {SnapshotStoreError} `corrupt` */
function checked(bytes: Uint8Array, hash: string): Uint8Array {
  if (sha256(bytes) === hash) return bytes
  throw new SnapshotStoreError('corrupt', `the stored block ${hash} does not match its hash`)
}

/** One that is longer than a block is cut, and does not match its hash. Closes the descriptor. */
async function readLarge(fd: number, hash: string): Promise<Uint8Array> {
  try {
    const buffer = Buffer.allocUnsafeSlow(SNAPSHOT_BLOCK_BYTES + 1)
    const { bytesRead } = await readAsync(fd, buffer, 0, buffer.length, 0)
    return checked(buffer.subarray(0, bytesRead), hash)
  } finally {
    closeSync(fd)
  }
}

/** Undefined when nothing is there, which is no error: errors take longer than all else. */
function sizeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.size
}

function touch(path: string, nowMs: number): boolean {
  try {
    utimesSync(path, nowMs / 1000, nowMs / 1000)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, READ)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    if (errnoOf(error) !== 'ELOOP') throw error
    throw new SnapshotStoreError('corrupt', 'a stored block was replaced by a link')
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
    throw error
  }
}
