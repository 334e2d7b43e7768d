import {
  type BigIntStats,
  type Dirent,
  lstatSync,
  readlinkSync,
  type Stats,
  statSync,
} from 'node:fs'
import {
  compareCodePoints,
  createTimeSlice,
  fitsPathLimits,
  joinPath,
  type SnapshotEntry,
  type SnapshotFile,
  type TimeSlice,
} from '@helix-agents/core/provider'
import { errnoOf } from '../file-system/map-error.ts'
import type { PinnedDirectory } from '../file-system/path/pinned-directory.ts'
import { readSorted } from '../file-system/tree/read-sorted.ts'
import { versionOf } from '../file-system/version.ts'
import { type ContentReading, readContent } from './read-content.ts'
import { datedDevice, isSettled, type State } from './change-times.ts'
import type { KnownDirectory, KnownFiles } from './known-files.ts'
import { toInnerTarget } from './link-target.ts'
import { type LossKind, SnapshotLosses } from './snapshot-losses.ts'

const PERMISSIONS = 0o777n
/** Paths of the host up to this length are used: there is room for a name within 4,096 bytes. */
const MAX_LOCATION_CHARACTERS = 1200

/** What a walk through a workspace works with. */
export interface TreeSource {
  /** The root as the host names it, and as commands do. */
  readonly root: string
  readonly shellRoot: string
  /** What the snapshot before read, updated with what this one reads. */
  readonly known: KnownFiles
  /** Change times are exact: see `Versions`. */
  readonly hasFineTimes: boolean
  readonly content: ContentReading
  checkCount(entries: number): void
}

/** The files of a workspace, their contents stored. */
export interface ReadTree {
  /** Sorted by path. */
  readonly entries: readonly SnapshotEntry[]
  /** Bytes of all files. */
  readonly bytes: number
  readonly losses: SnapshotLosses
}

/**
 * Reads all files of a workspace. Directories are opened by name in the open one above and files in
 * theirs: no link, whenever it was made, leads the walk away. The start is closed at the end.
 */
export async function readTree(start: PinnedDirectory, source: TreeSource): Promise<ReadTree> {
  const walk = new TreeWalk(source)
  await walk.run(start)
  return walk
}

interface Frame {
  readonly directory: PinnedDirectory
  readonly path: string
  /** Its path on the host; undefined when that is too long. */
  readonly location: string | undefined
  readonly known: KnownDirectory
  /** See `keysOf`. */
  readonly keys: readonly string[]
  next: number
}

/** What a name stands for, and the time before it was looked up. */
interface Found {
  readonly path: string
  readonly name: string
  readonly stats: BigIntStats
  readonly startedMs: number
}

class TreeWalk implements ReadTree {
  readonly entries: SnapshotEntry[] = []
  readonly losses = new SnapshotLosses()
  bytes = 0
  readonly #source: TreeSource
  readonly #slice: TimeSlice = createTimeSlice()
  readonly #frames: Frame[] = []
  /** Files with several names, by device and inode: read once. */
  readonly #linked = new Map<string, SnapshotFile>()
  /** On it, the names of a directory that did not change are known. */
  #device: number | undefined

  constructor(source: TreeSource) {
    this.#source = source
  }

  async run(start: PinnedDirectory): Promise<void> {
    try {
      await this.#open(start, '/')
      for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
        const key = frame.keys[frame.next]
        frame.next += 1
        if (key === undefined) this.#leave()
        else if (!this.#isKnown(frame, key)) await this.#visit(frame, key)
        if (this.#slice.due) await this.#pause()
      }
    } finally {
      while (this.#frames.length > 0) this.#leave()
    }
    this.#source.known.forgetOthers()
  }

  async #pause(): Promise<void> {
    await this.#slice.pause()
    this.#source.content.signal?.throwIfAborted()
  }

  #leave(): void {
    this.#frames.pop()?.directory.close()
  }

  async #open(directory: PinnedDirectory, path: string): Promise<void> {
    try {
      if (path === '/') this.#device = datedDevice(directory.self)
      const known = this.#source.known.visit(path)
      const keys = await this.#list(directory, known)
      const location = this.#source.root + path
      this.#frames.push({
        directory,
        path,
        location: location.length > MAX_LOCATION_CHARACTERS ? undefined : location,
        known,
        keys,
        next: 0,
      })
    } catch (error) {
      directory.close()
      throw error
    }
  }

  /** The names of a directory that did not change are those that were read before. */
  async #list(directory: PinnedDirectory, known: KnownDirectory): Promise<readonly string[]> {
    const startedMs = Date.now()
    const stats = statSync(directory.self)
    const before = known.findListing(stats)
    if (before !== undefined) return before
    const { signal } = this.#source.content
    const children = await readSorted(directory, { slice: this.#slice, signal })
    if (known.size > children.length) known.keepOnly(new Set(children.map(({ name }) => name)))
    const keys = keysOf(children)
    const isDated = stats.dev === this.#device && isSettled(stats.ctimeMs, startedMs)
    known.setListing(isDated ? { state: stateOf(stats), keys } : undefined)
    return keys
  }

  /**
   * A file that did not change is known by its path on the host, which is twice as fast as through
   * the descriptor.
   */
  #isKnown(frame: Frame, key: string): boolean {
    if (frame.location === undefined) return false
    const file = frame.known.find(key, `${frame.location}/${key}`)
    if (file === undefined) return false
    const { entry, isLinked } = file
    if (isLinked && entry.type === 'file') this.#addLinked(identityOf(file), entry)
    else this.#add(entry)
    return true
  }

  /** A file that has several names. */
  #addLinked(identity: string, entry: SnapshotFile): void {
    if (this.#linked.has(identity)) this.losses.add(entry.path, 'hard-link')
    else this.#linked.set(identity, entry)
    this.#add(entry)
  }

  async #visit(frame: Frame, key: string): Promise<void> {
    const isBelow = key.endsWith('/')
    const name = isBelow ? key.slice(0, -1) : key
    const path = joinPath(frame.path, name)
    try {
      if (isBelow) await this.#open(frame.directory.child(name), path)
      else await this.#read(frame, path, name)
    } catch (error) {
      const errno = errnoOf(error)
      // Gone since it was listed; a name that is no UTF-8 is never found by what it was decoded to.
      if (GONE.has(errno)) return this.#lose(path, name.includes('\ufffd') && 'path')
      if (!FORBIDDEN.has(errno)) throw error
      this.#lose(path, 'unreadable')
    }
  }

  async #read(frame: Frame, path: string, name: string): Promise<void> {
    if (!fitsPathLimits(path)) return this.#lose(path, 'path')
    const { directory } = frame
    const startedMs = Date.now()
    const stats = lstatSync(directory.at(name), { bigint: true })
    const found = { path, name, stats, startedMs }
    if (stats.isDirectory()) this.#add(this.#source.known.directoryEntry(path, modeOf(stats)))
    else if (stats.isSymbolicLink()) this.#addLink(frame, found)
    else if (stats.isFile()) await this.#addFile(frame, found)
    else this.#lose(path, 'special-file')
  }

  async #addFile(frame: Frame, { path, name, stats: listed }: Found): Promise<void> {
    const before = listed.nlink > 1n ? this.#linked.get(identityOf(listed)) : undefined
    if (before !== undefined) {
      const entry = { ...before, path }
      if (before.version === versionOf(listed)) frame.known.add(name, listed, entry)
      return this.#addLinked(identityOf(listed), entry)
    }
    const startedMs = Date.now()
    const content = await readContent({ directory: frame.directory, name }, this.#source.content)
    if (content === undefined) return this.#lose(path, 'special-file')
    const { stats, size, blocks, isTorn } = content
    const file = { path, type: 'file' as const, size, blocks, mode: modeOf(stats) }
    if (isTorn) {
      this.losses.add(path, 'changing')
      return this.#add(file)
    }
    const isOver = this.#isOver(stats, startedMs)
    const entry = isOver ? { ...file, version: versionOf(stats) } : file
    if (isOver) frame.known.add(name, stats, entry)
    if (stats.nlink > 1n) this.#addLinked(identityOf(stats), entry)
    else this.#add(entry)
  }

  /** Whether whatever changes it from now on gives it another change time. */
  #isOver(stats: BigIntStats, nowMs: number): boolean {
    return this.#source.hasFineTimes || isSettled(Number(stats.ctimeMs), nowMs)
  }

  #addLink({ directory, known }: Frame, { path, name, stats, startedMs }: Found): void {
    const { root, shellRoot } = this.#source
    const text = readlinkSync(directory.at(name))
    const isText = !text.includes('\ufffd')
    const target = isText ? toInnerTarget(path, text, [shellRoot, root]) : undefined
    if (target === undefined) return this.#lose(path, 'link')
    const entry: SnapshotEntry = { path, type: 'symlink', target }
    if (this.#isOver(stats, startedMs)) known.add(name, stats, entry)
    this.#add(entry)
  }

  #add(entry: SnapshotEntry): void {
    this.entries.push(entry)
    this.#source.checkCount(this.entries.length)
    if (entry.type !== 'file') return
    this.bytes += entry.size
    this.#source.content.checkSize(this.bytes)
  }

  #lose(path: string, reason: LossKind | false): void {
    if (reason !== false) this.losses.add(path, reason)
  }
}

/** Removed, or replaced by a link or a file. */
const GONE = new Set<string | undefined>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENODEV'])
const FORBIDDEN = new Set<string | undefined>(['EACCES', 'EPERM', 'ETXTBSY', 'EIO', 'EINVAL'])

/**
 * What to visit, in the order of whole paths: each name, and for a directory also the name with a slash,
 * which stands for what is below it.
 */
function keysOf(children: readonly Dirent[]): readonly string[] {
  const keys = children.flatMap((child) =>
    child.isDirectory() ? [child.name, `${child.name}/`] : child.name,
  )
  return children.some((child) => child.isDirectory()) ? keys.toSorted(compareCodePoints) : keys
}

function modeOf({ mode }: BigIntStats): number {
  return Number(mode & PERMISSIONS)
}

function stateOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): State {
  return { dev, ino, size, mtimeMs, ctimeMs }
}

function identityOf({ dev, ino }: Pick<BigIntStats | State, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`
}
