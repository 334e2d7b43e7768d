import { type BigIntStats, type Dirent, lstatSync, readlinkSync } from 'node:fs'
import {
  baseName,
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
import type { KnownDirectory, KnownFiles } from './known-files.ts'
import { toInnerTarget } from './link-target.ts'
import { type LossKind, SnapshotLosses } from './snapshot-losses.ts'

const PERMISSIONS = 0o777n
/** Longer than a clock tick of any kernel (10 ms at 100 Hz). */
const TICK_MS = 25
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

/** A child of a directory: itself, or for a directory also what is below it. */
interface Step {
  /** The name; with a slash for what is below: so whole paths come out in order. */
  readonly key: string
  readonly child: Dirent
}

interface Frame {
  readonly directory: PinnedDirectory
  readonly path: string
  /** Its path on the host; undefined when that is too long. */
  readonly location: string | undefined
  readonly known: KnownDirectory
  readonly steps: readonly Step[]
  next: number
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

  constructor(source: TreeSource) {
    this.#source = source
  }

  async run(start: PinnedDirectory): Promise<void> {
    try {
      await this.#open(start, '/')
      for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
        const step = frame.steps[frame.next]
        frame.next += 1
        if (step === undefined) this.#leave()
        else if (!this.#isKnown(frame, step)) await this.#visit(frame, step)
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
      const { signal } = this.#source.content
      const children = await readSorted(directory, { slice: this.#slice, signal })
      const known = this.#source.known.visit(path)
      if (known.size > children.length) known.keepOnly(new Set(children.map(({ name }) => name)))
      const location = path === '/' ? this.#source.root : this.#source.root + path
      this.#frames.push({
        directory,
        path,
        location: location.length > MAX_LOCATION_CHARACTERS ? undefined : location,
        known,
        steps: stepsOf(children),
        next: 0,
      })
    } catch (error) {
      directory.close()
      throw error
    }
  }

  /**
   * A file that did not change is known by its path on the host, which is twice as fast as through
   * the descriptor.
   */
  #isKnown(frame: Frame, { key, child }: Step): boolean {
    if (frame.location === undefined || child.isDirectory()) return false
    const entry = frame.known.find(key, `${frame.location}/${key}`)
    if (entry === undefined) return false
    this.#add(entry)
    return true
  }

  async #visit(frame: Frame, { key, child }: Step): Promise<void> {
    const path = joinPath(frame.path, child.name)
    try {
      if (key.endsWith('/')) await this.#open(frame.directory.child(child.name), path)
      else await this.#read(frame, path, child.name)
    } catch (error) {
      const errno = errnoOf(error) ?? ''
      // Gone since it was listed; a name that is no UTF-8 is never found by what it was decoded to.
      if (GONE.has(errno)) return this.#lose(path, child.name.includes('\ufffd') && 'path')
      if (!FORBIDDEN.has(errno)) throw error
      this.#lose(path, 'unreadable')
    }
  }

  async #read(frame: Frame, path: string, name: string): Promise<void> {
    if (!fitsPathLimits(path)) return this.#lose(path, 'path')
    const { directory } = frame
    const stats = lstatSync(directory.at(name), { bigint: true })
    const mode = Number(stats.mode & PERMISSIONS)
    if (stats.isDirectory()) this.#add({ path, type: 'directory', mode })
    else if (stats.isSymbolicLink()) this.#addLink(frame, path, stats)
    else if (stats.isFile()) await this.#addFile(frame, path, stats)
    else this.#lose(path, 'special-file')
  }

  async #addFile(frame: Frame, path: string, found: BigIntStats): Promise<void> {
    const before = found.nlink > 1n ? this.#linked.get(identityOf(found)) : undefined
    if (before !== undefined) {
      this.losses.add(path, 'hard-link')
      return this.#add({ ...before, path })
    }
    const [startedMs, name] = [Date.now(), baseName(path)]
    const content = await readContent({ directory: frame.directory, name }, this.#source.content)
    if (content === undefined) return this.#lose(path, 'special-file')
    const { stats, size, blocks, isTorn } = content
    const mode = Number(stats.mode & PERMISSIONS)
    const file = { path, type: 'file' as const, size, blocks, mode }
    if (isTorn) {
      this.losses.add(path, 'changing')
      return this.#add(file)
    }
    const isOver = this.#isOver(stats, startedMs)
    const entry = isOver ? { ...file, version: versionOf(stats) } : file
    if (isOver) frame.known.add(name, stats, entry)
    if (stats.nlink > 1n) this.#linked.set(identityOf(stats), entry)
    this.#add(entry)
  }

  /** Whether whatever changes it from now on gives it another change time. */
  #isOver(stats: BigIntStats, nowMs: number): boolean {
    return this.#source.hasFineTimes || nowMs - Number(stats.ctimeMs) >= TICK_MS
  }

  #addLink({ directory, known }: Frame, path: string, stats: BigIntStats): void {
    const { root, shellRoot } = this.#source
    const name = baseName(path)
    const text = readlinkSync(directory.at(name))
    const isText = !text.includes('\ufffd')
    const target = isText ? toInnerTarget(path, text, [shellRoot, root]) : undefined
    if (target === undefined) return this.#lose(path, 'link')
    const entry: SnapshotEntry = { path, type: 'symlink', target }
    if (this.#isOver(stats, Date.now())) known.add(name, stats, entry)
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
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENODEV'])
const FORBIDDEN: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ETXTBSY', 'EIO', 'EINVAL'])

function stepsOf(children: readonly Dirent[]): readonly Step[] {
  const steps: Step[] = []
  let hasDirectory = false
  for (const child of children) {
    steps.push({ key: child.name, child })
    if (!child.isDirectory()) continue
    steps.push({ key: `${child.name}/`, child })
    hasDirectory = true
  }
  return hasDirectory ? steps.toSorted((a, b) => compareCodePoints(a.key, b.key)) : steps
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
