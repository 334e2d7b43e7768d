import { type BigIntStats, lstatSync, type Stats } from 'node:fs'
import {
  baseName,
  parentPath,
  type SnapshotDirectory,
  type SnapshotEntry,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { versionOf } from '../file-system/version.ts'
import { isSame, type State } from './change-times.ts'

/** The state of a file or link when it was read, and what was read. */
export interface KnownFile extends State {
  /** It has several names. */
  readonly isLinked: boolean
  readonly entry: SnapshotEntry
}

/** What is in a directory, and the state of the directory just before that was read. */
interface Listing {
  readonly state: State
  readonly keys: readonly string[]
}

/**
 * The files of the snapshot before: one that did not change since is not read again. The next snapshot
 * updates it in place.
 */
export class KnownFiles {
  readonly #directories = new Map<string, KnownDirectory>()

  /** Those of a stored snapshot of the same workspace; their versions stand in for their states. */
  static of(manifest: SnapshotManifest): KnownFiles {
    const known = new KnownFiles()
    for (const entry of manifest.entries) {
      if (entry.type !== 'file' || entry.version === undefined) continue
      known.#in(parentPath(entry.path)).addStored(baseName(entry.path), entry)
    }
    return known
  }

  /** The files directly in a directory that is about to be read. */
  visit(path: string): KnownDirectory {
    const directory = this.#in(path)
    directory.isVisited = true
    return directory
  }

  /** The entry of a directory: the one of the snapshot before, when it says the same. */
  directoryEntry(path: string, mode: number): SnapshotDirectory {
    const directory = this.#in(path)
    if (directory.entry?.mode !== mode) directory.entry = { path, type: 'directory', mode }
    return directory.entry
  }

  /** Forgets the directories that were not visited since the last call. */
  forgetOthers(): void {
    for (const [path, directory] of this.#directories) {
      if (directory.isVisited) directory.isVisited = false
      else this.#directories.delete(path)
    }
  }

  #in(path: string): KnownDirectory {
    const directory = this.#directories.get(path) ?? new KnownDirectory()
    this.#directories.set(path, directory)
    return directory
  }
}

/** The files of one directory, by name. */
export class KnownDirectory {
  isVisited = false
  entry: SnapshotDirectory | undefined
  #listing: Listing | undefined
  readonly #read = new Map<string, KnownFile>()
  readonly #stored = new Map<string, SnapshotEntry>()

  /**
   * What was read of a file, when the file of this path is in the state in which that was read.
   * @param hostPath May lead anywhere: what it leads to is that file or another one.
   */
  find(name: string, hostPath: string): KnownFile | undefined {
    const known = this.#read.get(name)
    if (known === undefined) return this.#findStored(name, hostPath)
    const stats = tryStat(hostPath)
    return stats !== undefined && isSame(known, stats) ? known : undefined
  }

  /** What was in it in this state. */
  findListing(state: State): readonly string[] | undefined {
    const listing = this.#listing
    return listing !== undefined && isSame(listing.state, state) ? listing.keys : undefined
  }

  setListing(listing: Listing | undefined): void {
    this.#listing = listing
  }

  add(name: string, stats: BigIntStats, entry: SnapshotEntry): KnownFile {
    const known = toKnown(stats, entry)
    this.#read.set(name, known)
    return known
  }

  addStored(name: string, entry: SnapshotEntry): void {
    this.#stored.set(name, entry)
  }

  /** Forgets what is not among the names that are there. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#read.keys()) if (!names.has(name)) this.#read.delete(name)
  }

  get size(): number {
    return this.#read.size
  }

  #findStored(name: string, hostPath: string): KnownFile | undefined {
    const entry = this.#stored.get(name)
    if (entry?.type !== 'file') return undefined
    const stats = tryStatExactly(hostPath)
    if (!stats?.isFile() || entry.version !== versionOf(stats)) return undefined
    return this.add(name, stats, entry)
  }
}

function toKnown(stats: BigIntStats, entry: SnapshotEntry): KnownFile {
  return {
    dev: Number(stats.dev),
    ino: Number(stats.ino),
    size: Number(stats.size),
    mtimeMs: toMs(stats.mtimeNs),
    ctimeMs: toMs(stats.ctimeNs),
    isLinked: stats.nlink > 1n,
    entry,
  }
}

/** As Node rounds. */
function toMs(ns: bigint): number {
  return Number(ns / 1_000_000_000n) * 1000 + Number(ns % 1_000_000_000n) / 1_000_000
}

function tryStat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function tryStatExactly(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
